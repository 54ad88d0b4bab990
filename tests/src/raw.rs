//! A member that speaks the group protocol itself, over TCP, and says whatever it is told to say: what no client library
//! would send, and what other clients do send.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use kafka_sticky_protocol::Assignment;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

use crate::claims::Claimed;
use crate::seen::Partition;

/// How long a connection may take, and how soon it is tried again.
const PATIENCE: Duration = Duration::from_secs(20);
const RETRY: Duration = Duration::from_millis(50);
/// The broker does not know the member (any more): it joins as a new one.
const UNKNOWN_MEMBER_ID: i16 = 25;
/// The group is forming its next generation.
const REBALANCE_IN_PROGRESS: i16 = 27;

/// Where and as what a raw member joins.
#[derive(Debug, Clone)]
pub struct Seat {
    /// `host:port` of the group's coordinator.
    pub coordinator: String,
    /// The group.
    pub group: String,
    /// The one strategy it offers.
    pub strategy: String,
    /// After how long without a heartbeat it is missed.
    pub session_timeout: Duration,
    /// How often it sends one.
    pub heartbeat_interval: Duration,
    /// `group.instance.id`, of a static member.
    pub instance_id: Option<String>,
}

/// What a member sends in JoinGroup.
#[derive(Debug, Clone)]
pub struct Word {
    /// The subscription message.
    pub subscription: Vec<u8>,
    /// What those bytes claim, by the rules of the strategy; `None` where they claim nothing that can be read.
    pub claims: Option<Claimed>,
}

/// How a raw member behaves.
pub trait Manner: Send + 'static {
    /// What it says when it joins, given all that came before.
    fn word(&mut self, past: &[Stay]) -> Word;

    /// Whether it joins again as soon as it has its assignment, as a cooperative member does that lost something.
    fn joins_again(&mut self, past: &[Stay]) -> bool {
        let _ = past;
        false
    }

    /// As the leader: each member's assignment, given all members' ids and subscriptions. By default it will not lead: it
    /// leaves and comes back last.
    fn lead(&mut self, members: &[(String, Bytes)]) -> Option<Vec<(String, Vec<u8>)>> {
        let _ = members;
        None
    }
}

impl<F: FnMut(&[Stay]) -> Word + Send + 'static> Manner for F {
    fn word(&mut self, past: &[Stay]) -> Word {
        self(past)
    }
}

/// A member's part in one generation.
#[derive(Debug, Clone)]
pub struct Stay {
    /// The generation.
    pub generation: i32,
    /// The member id that the broker gave.
    pub member_id: String,
    /// What it said when it joined.
    pub word: Word,
    /// When JoinGroup was answered.
    pub joined: Instant,
    /// The assignment message it was sent; `None` where the group moved on before.
    pub assignment: Option<Bytes>,
    /// When SyncGroup was answered, if it was.
    pub synced: Option<Instant>,
}

impl Stay {
    /// The partitions it was given.
    ///
    /// # Errors
    ///
    /// Where what it was sent is no assignment.
    pub fn share(&self) -> Result<Option<BTreeSet<Partition>>> {
        let Some(bytes) = &self.assignment else { return Ok(None) };
        let assignment = Assignment::read(bytes)?;
        let pairs: Vec<Partition> = assignment
            .assigned_partitions()
            .pairs()
            .map(|(topic, number)| (topic.to_owned(), number))
            .collect();
        let share: BTreeSet<Partition> = pairs.iter().cloned().collect();
        ensure!(share.len() == pairs.len(), "a partition stands twice in {pairs:?}");
        Ok(Some(share))
    }

    /// The user data that came with its assignment; `None` is null.
    ///
    /// # Errors
    ///
    /// Where it was sent no assignment.
    pub fn told(&self) -> Result<Option<Vec<u8>>> {
        let bytes = self.assignment.as_ref().context("no assignment")?;
        Ok(Assignment::read(bytes)?.user_data().map(<[u8]>::to_vec))
    }
}

/// The last share of a past, with its generation.
pub fn last_share(past: &[Stay]) -> Option<(i32, BTreeSet<Partition>)> {
    past.iter().rev().find_map(|stay| Some((stay.generation, stay.share().ok()??)))
}

impl Manner for Box<dyn Manner> {
    fn word(&mut self, past: &[Stay]) -> Word {
        (**self).word(past)
    }

    fn joins_again(&mut self, past: &[Stay]) -> bool {
        (**self).joins_again(past)
    }

    fn lead(&mut self, members: &[(String, Bytes)]) -> Option<Vec<(String, Vec<u8>)>> {
        (**self).lead(members)
    }
}

/// A raw member in its task.
pub struct RawMember {
    seat: Seat,
    past: watch::Receiver<Vec<Stay>>,
    stop: oneshot::Sender<()>,
    task: JoinHandle<Result<()>>,
}

impl RawMember {
    /// Joins, and stays until it is told to leave.
    pub fn join(seat: Seat, manner: impl Manner) -> Self {
        let (told, past) = watch::channel(Vec::new());
        let (stop, stopped) = oneshot::channel();
        let work = Work { seat: seat.clone(), manner, past: told, member_id: String::new() };
        Self { seat, past, stop, task: tokio::spawn(work.until(stopped)) }
    }

    /// All that it came to so far.
    pub fn past(&self) -> Vec<Stay> {
        self.past.borrow().clone()
    }

    /// The last generation it is in: JoinGroup is answered, the assignment may not be there yet.
    pub fn last(&self) -> Option<Stay> {
        self.past.borrow().last().cloned()
    }

    /// Waits until it is given an assignment, if it never was.
    ///
    /// # Errors
    ///
    /// Where it comes to grief before.
    pub async fn assigned(&mut self) -> Result<()> {
        let given = |past: &Vec<Stay>| past.iter().any(|stay| stay.assignment.is_some());
        self.past.wait_for(given).await.context("it ended without an assignment")?;
        Ok(())
    }

    /// The static member that it is.
    pub fn instance_id(&self) -> Option<&str> {
        self.seat.instance_id.as_deref()
    }

    /// Whether it came to grief, and is no member any more. [`leave`](Self::leave) says over what.
    pub fn has_ended(&self) -> bool {
        self.task.is_finished()
    }

    /// Goes without a word.
    pub fn vanish(self) {
        self.task.abort();
    }

    /// Leaves the group, properly.
    ///
    /// # Errors
    ///
    /// What it came to grief over.
    pub async fn leave(self) -> Result<()> {
        // It may have ended already.
        let _ = self.stop.send(());
        self.task.await?
    }
}

impl fmt::Debug for RawMember {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawMember")
            .field("seat", &self.seat)
            .field("last", &self.last())
            .finish_non_exhaustive()
    }
}

/// Creates topics by asking for their metadata, as a client may: all at once, where the mock cluster's own function takes a
/// second for each.
///
/// # Errors
///
/// Where the broker does not answer.
pub async fn create_topics(broker: &str, names: &[String]) -> Result<()> {
    let mut body = BytesMut::new();
    body.put_i32(i32::try_from(names.len())?);
    names.iter().for_each(|name| put_string(&mut body, name));
    // Whether they may be created.
    body.put_u8(1);
    // Metadata version 4.
    Connection::open(broker).await?.ask(3, 4, &body).await?;
    Ok(())
}

struct Work<M> {
    seat: Seat,
    manner: M,
    past: watch::Sender<Vec<Stay>>,
    member_id: String,
}

impl<M: Manner> Work<M> {
    async fn until(mut self, stopped: oneshot::Receiver<()>) -> Result<()> {
        tokio::select! {
            ended = self.stay() => return ended,
            // A dropped sender stops as well.
            _ = stopped => {}
        }
        // A request may be waiting for its answer on the connection that is gone now.
        if !self.member_id.is_empty() {
            let mut connection = Connection::open(&self.seat.coordinator).await?;
            connection.leave(&self.seat, &self.member_id).await?;
        }
        Ok(())
    }

    async fn stay(&mut self) -> Result<()> {
        let mut connection = Connection::open(&self.seat.coordinator).await?;
        loop {
            let word = self.manner.word(&self.past.borrow());
            let joined = match connection.join(&self.seat, &self.member_id, &word.subscription).await? {
                Ok(joined) => joined,
                Err(error) => {
                    self.refused(error);
                    continue;
                }
            };
            self.member_id.clone_from(&joined.member_id);
            let assignments = if joined.members.is_empty() {
                Vec::new()
            } else if let Some(assignments) = self.manner.lead(&joined.members) {
                assignments
            } else {
                connection.leave(&self.seat, &self.member_id).await?;
                self.member_id.clear();
                continue;
            };
            self.past.send_modify(|past| {
                past.push(Stay {
                    generation: joined.generation,
                    member_id: joined.member_id.clone(),
                    word,
                    joined: joined.at,
                    assignment: None,
                    synced: None,
                });
            });
            let synced =
                connection.sync(&self.seat, joined.generation, &self.member_id, &assignments).await?;
            let assignment = match synced {
                Ok(assignment) => assignment,
                Err(error) => {
                    self.refused(error);
                    continue;
                }
            };
            self.past.send_modify(|past| {
                if let Some(stay) = past.last_mut() {
                    stay.assignment = Some(assignment);
                    stay.synced = Some(Instant::now());
                }
            });
            if self.manner.joins_again(&self.past.borrow()) {
                continue;
            }
            let error = loop {
                sleep(self.seat.heartbeat_interval).await;
                let error = connection.heartbeat(&self.seat, joined.generation, &self.member_id).await?;
                if error != 0 {
                    break error;
                }
            };
            self.refused(error);
        }
    }

    /// Whatever went wrong, it joins again; what differs is as whom.
    fn refused(&mut self, error: i16) {
        if error == UNKNOWN_MEMBER_ID {
            self.member_id.clear();
        } else if error != REBALANCE_IN_PROGRESS {
            eprintln!("raw member {}: error {error}, joins again", self.member_id);
        }
    }
}

/// A JoinGroup that was answered without an error.
struct Joined {
    generation: i32,
    member_id: String,
    /// Of the leader only: everybody's id and subscription.
    members: Vec<(String, Bytes)>,
    at: Instant,
}

/// One request at a time.
struct Connection {
    stream: TcpStream,
    correlation: i32,
}

impl Connection {
    /// The mock cluster's queue of connections that are not accepted yet is short, and what does not fit is reset: so a
    /// connection counts once a request on it is answered, here ApiVersions.
    async fn open(address: &str) -> Result<Self> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let opened = Self::try_open(address).await.with_context(|| format!("connecting to {address}"));
            if opened.is_ok() || Instant::now() > deadline {
                return opened;
            }
            sleep(RETRY).await;
        }
    }

    async fn try_open(address: &str) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let mut connection = Self { stream, correlation: 0 };
        connection.ask(18, 0, &[]).await?;
        Ok(connection)
    }

    /// JoinGroup version 5.
    async fn join(
        &mut self,
        seat: &Seat,
        member_id: &str,
        subscription: &[u8],
    ) -> Result<Result<Joined, i16>> {
        let mut body = BytesMut::new();
        let timeout = i32::try_from(seat.session_timeout.as_millis())?;
        put_string(&mut body, &seat.group);
        body.put_i32(timeout);
        // The rebalance timeout.
        body.put_i32(timeout);
        put_string(&mut body, member_id);
        put_nullable(&mut body, seat.instance_id.as_deref());
        put_string(&mut body, "consumer");
        body.put_i32(1);
        put_string(&mut body, &seat.strategy);
        put_bytes(&mut body, subscription);
        let mut answer = self.ask(11, 5, &body).await?;
        let at = Instant::now();
        // Throttle time.
        answer.try_get_i32()?;
        let error = answer.try_get_i16()?;
        if error != 0 {
            return Ok(Err(error));
        }
        let generation = answer.try_get_i32()?;
        let (_strategy, _leader) = (take_string(&mut answer)?, take_string(&mut answer)?);
        let member_id = take_string(&mut answer)?.context("a member id")?;
        let count = answer.try_get_i32()?;
        let mut members = Vec::new();
        for _ in 0..count {
            let id = take_string(&mut answer)?.context("a member id")?;
            take_string(&mut answer)?;
            members.push((id, take_bytes(&mut answer)?));
        }
        Ok(Ok(Joined { generation, member_id, members, at }))
    }

    /// SyncGroup version 3.
    async fn sync(
        &mut self,
        seat: &Seat,
        generation: i32,
        member_id: &str,
        assignments: &[(String, Vec<u8>)],
    ) -> Result<Result<Bytes, i16>> {
        let mut body = BytesMut::new();
        put_string(&mut body, &seat.group);
        body.put_i32(generation);
        put_string(&mut body, member_id);
        put_nullable(&mut body, seat.instance_id.as_deref());
        body.put_i32(i32::try_from(assignments.len())?);
        for (member_id, assignment) in assignments {
            put_string(&mut body, member_id);
            put_bytes(&mut body, assignment);
        }
        let mut answer = self.ask(14, 3, &body).await?;
        answer.try_get_i32()?;
        let error = answer.try_get_i16()?;
        if error != 0 {
            return Ok(Err(error));
        }
        Ok(Ok(take_bytes(&mut answer)?))
    }

    /// Heartbeat version 3; gives the error code.
    async fn heartbeat(&mut self, seat: &Seat, generation: i32, member_id: &str) -> Result<i16> {
        let mut body = BytesMut::new();
        put_string(&mut body, &seat.group);
        body.put_i32(generation);
        put_string(&mut body, member_id);
        put_nullable(&mut body, seat.instance_id.as_deref());
        let mut answer = self.ask(12, 3, &body).await?;
        answer.try_get_i32()?;
        Ok(answer.try_get_i16()?)
    }

    /// LeaveGroup version 1. That the group has forgotten the member already is no error.
    async fn leave(&mut self, seat: &Seat, member_id: &str) -> Result<()> {
        let mut body = BytesMut::new();
        put_string(&mut body, &seat.group);
        put_string(&mut body, member_id);
        let mut answer = self.ask(13, 1, &body).await?;
        answer.try_get_i32()?;
        let error = answer.try_get_i16()?;
        ensure!(error == 0 || error == UNKNOWN_MEMBER_ID, "leaving failed with error {error}");
        Ok(())
    }

    /// Sends a request with header version 1, and gives the body of its answer.
    async fn ask(&mut self, key: i16, version: i16, body: &[u8]) -> Result<Bytes> {
        self.correlation += 1;
        let mut request = BytesMut::new();
        request.put_i16(key);
        request.put_i16(version);
        request.put_i32(self.correlation);
        put_string(&mut request, "raw");
        request.put_slice(body);
        self.stream.write_i32(i32::try_from(request.len())?).await?;
        self.stream.write_all(&request).await?;

        let len = usize::try_from(self.stream.read_i32().await?)?;
        let mut answer = vec![0; len];
        self.stream.read_exact(&mut answer).await?;
        let mut answer = Bytes::from(answer);
        let correlation = answer.try_get_i32()?;
        ensure!(correlation == self.correlation, "an answer to request {correlation}");
        Ok(answer)
    }
}

fn put_string(buffer: &mut BytesMut, text: &str) {
    put_nullable(buffer, Some(text));
}

fn put_nullable(buffer: &mut BytesMut, text: Option<&str>) {
    let Some(text) = text else { return buffer.put_i16(-1) };
    buffer.put_i16(i16::try_from(text.len()).expect("a short string"));
    buffer.put_slice(text.as_bytes());
}

fn put_bytes(buffer: &mut BytesMut, bytes: &[u8]) {
    buffer.put_i32(i32::try_from(bytes.len()).expect("less than 2 GiB"));
    buffer.put_slice(bytes);
}

fn take_string(answer: &mut Bytes) -> Result<Option<String>> {
    let Ok(len) = usize::try_from(answer.try_get_i16()?) else { return Ok(None) };
    ensure!(len <= answer.len(), "a string of {len} bytes where {} are left", answer.len());
    Ok(Some(String::from_utf8(answer.split_to(len).to_vec())?))
}

fn take_bytes(answer: &mut Bytes) -> Result<Bytes> {
    let Ok(len) = usize::try_from(answer.try_get_i32()?) else { return Ok(Bytes::new()) };
    ensure!(len <= answer.len(), "{len} bytes where {} are left", answer.len());
    Ok(answer.split_to(len))
}
