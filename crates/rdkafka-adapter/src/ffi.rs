//! The boundary to C: the only module with `unsafe`.
//!
//! Everything of librdkafka's is an opaque pointer here. The functions of `shim/shim.h`, compiled against librdkafka's
//! internal headers, read and write through it, so no layout of librdkafka's is repeated in Rust. What this module
//! hands on borrows from the callback that librdkafka is in, and cannot outlive it.

#![allow(unsafe_code)]

use std::any::Any;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;
use std::{mem, process, ptr, slice};

use rdkafka::consumer::{Consumer, ConsumerContext};
use rdkafka::types::{RDKafka, RDKafkaErrorCode, RDKafkaRespErr};
#[cfg(feature = "mocking")]
use rdkafka::{ClientContext, client::Client};

use crate::create::AssignedConsumer;
use crate::shared::Shared;

mod sys;

/// What librdkafka asks of a strategy and tells it: on its main thread, which also sends the heartbeats, unless said
/// otherwise.
///
/// None may call into the client: most of its calls wait for that very thread.
pub(crate) trait Callbacks: Send + Sync + 'static {
    /// The subscription message of the next JoinGroup. Without one the topics go without claims. Of librdkafka's own
    /// strategies the answer is not used.
    fn join(&self, join: Join<'_>) -> Option<Vec<u8>>;
    /// Gives every partition of the group to a member; the error is a reason for librdkafka's log. Not asked of
    /// librdkafka's own strategies.
    fn assign(&self, round: &mut Round<'_>) -> Result<(), String>;
    /// What this member was given.
    fn assigned(&self, share: Share<'_>);
    /// What the application sees of this member. It is told itself, on the thread that polls, of what concerns the member
    /// whatever the strategy: revocations, ahead of the rebalance callback, and refusals.
    fn shared(&self) -> Arc<Shared>;
    /// One of the others panicked.
    fn panicked(&self, callback: &'static str, message: &str);
}

/// A strategy to be offered to the group.
pub(crate) enum Offer {
    /// One of librdkafka's; it is only listened to.
    Builtin { name: &'static CStr, callbacks: Arc<dyn Callbacks> },
    /// One that is implemented here.
    Ours { name: CString, cooperative: bool, callbacks: Arc<dyn Callbacks> },
}

/// Why the offers could not be installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    /// Another librdkafka is linked than the shim was compiled for.
    Version { built_for: i32, linked: i32 },
    /// The version is right, but built with other options.
    Layout,
    /// Not a consumer with a `group.id`.
    NoGroup,
    /// librdkafka answered with this error code.
    Code(RDKafkaErrorCode),
}

/// What a client is called.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Names {
    /// `group.id`
    pub(crate) group: String,
    /// `client.id`
    pub(crate) client_id: String,
}

/// Makes `offers` the strategies of a consumer that has never subscribed, in this order, in place of those it was
/// configured with. After an error it may offer only some.
pub(crate) fn install<C, T>(consumer: &mut T, offers: impl FnOnce(Names) -> Vec<Offer>) -> Result<(), Refused>
where
    C: ConsumerContext,
    T: AssignedConsumer<C>,
{
    // SAFETY: takes no argument and reads a constant.
    let built_for = unsafe { sys::ks_version_built_for() };
    // SAFETY: likewise.
    let linked = unsafe { rdkafka_sys::rd_kafka_version() };
    if built_for != linked {
        return Err(Refused::Version { built_for, linked });
    }
    let client = consumer.client().native_ptr();
    // SAFETY: the client lives as long as the consumer that is borrowed here.
    match unsafe { sys::ks_check(client) } {
        sys::KS_READY => {}
        sys::KS_NO_GROUP => return Err(Refused::NoGroup),
        _ => return Err(Refused::Layout),
    }

    // SAFETY: the client was checked, and its names stay while it lives.
    let names = unsafe {
        Names {
            group: text(bytes(sys::ks_group_id(client))),
            client_id: text(bytes(sys::ks_client_id(client))),
        }
    };
    let offered = offers(names).into_iter().map(|offer| Offered::of(offer, client));
    let plugs: Box<Vec<Offered>> = Box::new(offered.collect());
    let plugs = Box::into_raw(plugs);
    // SAFETY: `plugs` came from `Box::into_raw`, as `drop_plugs` expects, and the client calls that once.
    check(unsafe { sys::ks_own(client, drop_plugs, plugs.cast()) }).inspect_err(|_| {
        // SAFETY: the client did not take it.
        drop(unsafe { Box::from_raw(plugs) });
    })?;

    // SAFETY: the client owns it from here on, nobody changes it, and it is freed only when the client is destroyed,
    // which cannot be while the consumer is borrowed.
    let plugs = unsafe { &*plugs };
    // SAFETY: librdkafka's threads read the list of strategies only from the first subscribe on. That has not been, and
    // cannot be now: `AssignedConsumer` is sealed, its two implementors subscribe through a reference only, and the
    // exclusive borrow leaves none. A later subscribe passes through a locked queue, which publishes what is written.
    unsafe { sys::ks_disable_all(client) };
    for offered in plugs {
        // SAFETY: as above; the names are nul-terminated; a plug lives, at one address, as long as the client.
        check(unsafe {
            match offered {
                Offered::Builtin { name, plug } => {
                    let plug: *const Plug = &raw const **plug;
                    sys::ks_enable_builtin(client, name.as_ptr(), plug.cast(), plug.cast_mut().cast())
                }
                Offered::Ours { name, cooperative, plug } => {
                    let (plug, cooperative): (*const Plug, _) =
                        (&raw const **plug, c_int::from(*cooperative));
                    sys::ks_enable_ours(
                        client,
                        name.as_ptr(),
                        cooperative,
                        plug.cast(),
                        plug.cast_mut().cast(),
                    )
                }
            }
        })?;
    }
    if let Some(first) = plugs.first() {
        let plug: *const Plug = first.plug();
        // SAFETY: as above.
        unsafe { sys::ks_listen(client, plug.cast(), plug.cast_mut().cast()) };
    }
    Ok(())
}

fn text(bytes: Option<&[u8]>) -> String {
    String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned()
}

fn check(code: RDKafkaRespErr) -> Result<(), Refused> {
    if code == RDKafkaRespErr::RD_KAFKA_RESP_ERR_NO_ERROR {
        return Ok(());
    }
    Err(Refused::Code(code.into()))
}

/// Whose a consumer is.
pub(crate) enum Installed {
    /// Nothing of this crate's is in it.
    Nothing,
    /// This process's, with the callbacks of one of its strategies.
    Here(Arc<dyn Callbacks>),
    /// It was given its strategies in the process of this id, and this one was forked from that: none of the client's
    /// threads is here, so that whoever waits for one waits for ever.
    InAnotherProcess(u32),
}

/// What was installed in a consumer.
pub(crate) fn installed<C>(consumer: &impl Consumer<C>) -> Installed
where
    C: ConsumerContext,
{
    // SAFETY: the client lives as long as the consumer that is borrowed here, and its list of strategies changes only
    // in `install`, under an exclusive borrow.
    let Some(plug) = NonNull::new(unsafe { sys::ks_find(consumer.client().native_ptr()) }) else {
        return Installed::Nothing;
    };
    // SAFETY: what is found is a plug given to the client in `install`, which lives as long as the client.
    let plug = unsafe { plug.cast::<Plug>().as_ref() };
    if plug.process == process::id() {
        Installed::Here(Arc::clone(&plug.callbacks))
    } else {
        Installed::InAnotherProcess(plug.process)
    }
}

/// An offer as the client owns it.
enum Offered {
    // Boxed, for an address that stays.
    Builtin { name: &'static CStr, plug: Box<Plug> },
    Ours { name: CString, cooperative: bool, plug: Box<Plug> },
}

impl Offered {
    fn of(offer: Offer, client: *mut RDKafka) -> Self {
        match offer {
            Offer::Builtin { name, callbacks } => {
                Self::Builtin { name, plug: Plug::boxed(callbacks, client) }
            }
            Offer::Ours { name, cooperative, callbacks } => {
                Self::Ours { name, cooperative, plug: Plug::boxed(callbacks, client) }
            }
        }
    }

    fn plug(&self) -> &Plug {
        match self {
            Self::Builtin { plug, .. } | Self::Ours { plug, .. } => plug,
        }
    }
}

/// What a strategy's opaque pointer points to: the shim reads the first field, the functions below the second.
#[repr(C)]
struct Plug {
    to_c: sys::Callbacks,
    callbacks: Arc<dyn Callbacks>,
    /// The id of the process that the client's threads are in.
    process: u32,
}

const _: () = assert!(mem::offset_of!(Plug, to_c) == 0);

impl Plug {
    fn boxed(callbacks: Arc<dyn Callbacks>, client: *mut RDKafka) -> Box<Self> {
        let to_c = sys::Callbacks {
            join: call_join,
            assign: call_assign,
            assigned: call_assigned,
            revoked: call_revoked,
            refused: call_refused,
            rk: client,
        };
        Box::new(Self { to_c, callbacks, process: process::id() })
    }
}

unsafe extern "C" fn drop_plugs(plugs: *mut c_void) {
    let dropped = catch_unwind(|| {
        // SAFETY: `install` made it with `Box::into_raw`, and the client calls this once, after its last callback.
        let plugs = unsafe { Box::from_raw(plugs.cast::<Vec<Offered>>()) };
        for offered in &*plugs {
            offered.plug().callbacks.shared().ended();
        }
    });
    // A panic in somebody's `Drop` has nowhere to go, and its payload may panic again when dropped.
    if let Err(payload) = dropped {
        mem::forget(payload);
    }
}

unsafe extern "C" fn call_join(plug: *mut c_void, join: *const sys::Join) -> *mut sys::Bytes {
    // SAFETY: the shim hands back the opaque it was given in `install`: a plug that lives as long as the client.
    let callbacks = unsafe { &(*plug.cast::<Plug>()).callbacks };
    let join = Join { raw: join, callback: PhantomData };
    let Some(message) = guarded(callbacks, "join", || callbacks.join(join)).flatten() else {
        return ptr::null_mut();
    };
    if i32::try_from(message.len()).is_err() {
        return ptr::null_mut();
    }
    // SAFETY: the pointer and the length are those of a live vector, which is copied; the length fits an i32.
    unsafe { sys::ks_bytes_new(message.as_ptr().cast(), message.len()) }
}

unsafe extern "C" fn call_assign(
    plug: *mut c_void,
    round: *mut sys::Round,
    errstr: *mut c_char,
    errstr_size: usize,
) -> c_int {
    // SAFETY: as in `call_join`.
    let callbacks = unsafe { &(*plug.cast::<Plug>()).callbacks };
    let mut round = Round { raw: round, callback: PhantomData };
    let reason = match guarded(callbacks, "assign", || callbacks.assign(&mut round)) {
        Some(Ok(())) => return 0,
        Some(Err(reason)) => reason,
        None => String::from("the assignor panicked"),
    };
    let Some(room) = errstr_size.checked_sub(1) else { return -1 };
    let len = reason.len().min(room);
    // SAFETY: librdkafka gives a buffer of `errstr_size` bytes; `len` and the nul fit in.
    unsafe {
        ptr::copy_nonoverlapping(reason.as_ptr(), errstr.cast(), len);
        errstr.add(len).write(0);
    }
    -1
}

unsafe extern "C" fn call_assigned(plug: *mut c_void, share: *const sys::Share) {
    // SAFETY: as in `call_join`.
    let callbacks = unsafe { &(*plug.cast::<Plug>()).callbacks };
    let share = Share { raw: share, callback: PhantomData };
    guarded(callbacks, "assigned", || callbacks.assigned(share));
}

unsafe extern "C" fn call_revoked(plug: *mut c_void, partitions: *const sys::List, lost: c_int) {
    // SAFETY: as in `call_join`; nobody changes what is behind a plug, so any thread may come.
    let callbacks = unsafe { &(*plug.cast::<Plug>()).callbacks };
    let partitions = Partitions { raw: partitions, callback: PhantomData };
    guarded(callbacks, "revoked", || callbacks.shared().revoked(partitions, lost != 0));
}

unsafe extern "C" fn call_refused(plug: *mut c_void, code: RDKafkaRespErr) {
    // SAFETY: as in `call_revoked`.
    let callbacks = unsafe { &(*plug.cast::<Plug>()).callbacks };
    guarded(callbacks, "refused", || callbacks.shared().refused(code.into()));
}

/// Runs `call` and, where it panics, says so and gives `None`: a panic must not cross into C.
fn guarded<T>(callbacks: &Arc<dyn Callbacks>, name: &'static str, call: impl FnOnce() -> T) -> Option<T> {
    // Callbacks keep their state behind locks that they recover, so nothing half-done is seen.
    let payload = match catch_unwind(AssertUnwindSafe(call)) {
        Ok(value) => return Some(value),
        Err(payload) => payload,
    };
    let told = catch_unwind(AssertUnwindSafe(|| callbacks.panicked(name, message_of(&*payload))));
    mem::forget(payload);
    if let Err(payload) = told {
        mem::forget(payload);
    }
    None
}

pub(crate) fn message_of(payload: &(dyn Any + Send)) -> &str {
    if let Some(message) = payload.downcast_ref::<&'static str>() {
        return message;
    }
    payload.downcast_ref::<String>().map_or("(no message)", String::as_str)
}

/// A JoinGroup request being written.
#[derive(Clone, Copy)]
pub(crate) struct Join<'c> {
    raw: *const sys::Join,
    callback: PhantomData<&'c ()>,
}

impl<'c> Join<'c> {
    /// The topics subscribed to, patterns expanded, with how many partitions each has.
    pub(crate) fn topics(self) -> impl Iterator<Item = (&'c [u8], i32)> {
        // SAFETY: `raw` is valid during the callback 'c, and what it lists does not change in it.
        let len = unsafe { sys::ks_join_topic_cnt(self.raw) };
        (0..len).filter_map(move |i| {
            // SAFETY: as above; the index is below the length.
            let (topic, partitions) =
                unsafe { (bytes(sys::ks_join_topic(self.raw, i)), sys::ks_join_partition_cnt(self.raw, i)) };
            Some((topic?, partitions))
        })
    }

    /// As whom this member joins; empty where the broker has yet to give it an id.
    pub(crate) fn member_id(self) -> &'c [u8] {
        // SAFETY: `raw` is valid during 'c, and librdkafka changes the id on the thread that this runs on.
        unsafe { bytes(sys::ks_join_member_id(self.raw)) }.unwrap_or_default()
    }

    /// Why this member last gave up everything, in librdkafka's words.
    pub(crate) fn reason(self) -> &'c [u8] {
        // SAFETY: as in `member_id`.
        unsafe { bytes(sys::ks_join_reason(self.raw)) }.unwrap_or_default()
    }

    /// What this member holds.
    pub(crate) fn owned(self) -> Partitions<'c> {
        // SAFETY: `raw` is valid during 'c.
        Partitions { raw: unsafe { sys::ks_join_owned(self.raw) }, callback: PhantomData }
    }

    /// `client.rack`.
    pub(crate) fn rack(self) -> Option<&'c [u8]> {
        // SAFETY: `raw` is valid during 'c.
        unsafe { bytes(sys::ks_join_rack(self.raw)) }
    }
}

/// An assignment being computed by the leader.
pub(crate) struct Round<'c> {
    raw: *mut sys::Round,
    callback: PhantomData<&'c mut ()>,
}

/// A member of the group, by its index in the round.
#[derive(Clone, Copy)]
pub(crate) struct RoundMember<'r> {
    raw: *const sys::Round,
    index: usize,
    round: PhantomData<&'r ()>,
}

/// A topic that exists and that somebody subscribes to, by its index in the round.
#[derive(Clone, Copy)]
pub(crate) struct RoundTopic<'r> {
    raw: *const sys::Round,
    index: usize,
    round: PhantomData<&'r ()>,
}

impl Round<'_> {
    /// The generation being formed.
    pub(crate) fn generation(&self) -> i32 {
        // SAFETY: `raw` is valid during the callback.
        unsafe { sys::ks_round_generation(self.raw) }
    }

    /// The id of the member that assigns: this one.
    pub(crate) fn leader_id(&self) -> &[u8] {
        // SAFETY: `raw` is valid during the callback, and so is the id.
        unsafe { bytes(sys::ks_round_leader_id(self.raw)) }.unwrap_or_default()
    }

    /// How long librdkafka took on its main thread to match members and topics, if that is known.
    pub(crate) fn matching(&self) -> Option<Duration> {
        // SAFETY: `raw` is valid during the callback.
        let micros = unsafe { sys::ks_round_matching_us(self.raw) };
        u64::try_from(micros).ok().map(Duration::from_micros)
    }

    pub(crate) fn member_count(&self) -> usize {
        // SAFETY: `raw` is valid during the callback.
        unsafe { sys::ks_round_member_cnt(self.raw) }
    }

    pub(crate) fn members(&self) -> impl ExactSizeIterator<Item = RoundMember<'_>> {
        (0..self.member_count()).map(|index| RoundMember { raw: self.raw, index, round: PhantomData })
    }

    pub(crate) fn topics(&self) -> impl ExactSizeIterator<Item = RoundTopic<'_>> {
        // SAFETY: `raw` is valid during the callback.
        let len = unsafe { sys::ks_round_topic_cnt(self.raw) };
        (0..len).map(|index| RoundTopic { raw: self.raw, index, round: PhantomData })
    }

    /// Assigns a partition.
    ///
    /// # Panics
    ///
    /// If there is no such member, topic or partition.
    pub(crate) fn give(&mut self, member: usize, topic: usize, partition: u32) {
        assert!(member < self.member_count(), "no member {member}");
        assert!(topic < self.topics().len(), "no topic {topic}");
        let partitions = RoundTopic { raw: self.raw, index: topic, round: PhantomData }.partitions();
        assert!(partition < partitions, "no partition {partition} of topic {topic}");
        // SAFETY: `raw` is valid during the callback, and all three exist; a count of partitions fits an i32.
        unsafe { sys::ks_member_give(self.raw, member, topic, partition as i32) }
    }

    /// Sets the user data that a member is sent with its assignment: null for `None`.
    ///
    /// # Panics
    ///
    /// If there is no such member, or at more than 2 GiB.
    pub(crate) fn tell(&mut self, member: usize, user_data: Option<&[u8]>) {
        assert!(member < self.member_count(), "no member {member}");
        let (data, len) = user_data.map_or((ptr::null(), 0), |data| (data.as_ptr(), data.len()));
        assert!(i32::try_from(len).is_ok(), "{len} bytes of user data");
        // SAFETY: `raw` is valid during the callback; the member exists; the bytes are copied, their length fits an i32.
        unsafe { sys::ks_member_tell(self.raw, member, data.cast(), len) }
    }
}

impl<'r> RoundMember<'r> {
    pub(crate) fn id(self) -> &'r [u8] {
        // SAFETY: `raw` is valid and the member exists; `give` and `tell` leave its strings in place.
        unsafe { bytes(sys::ks_member_id(self.raw, self.index)) }.unwrap_or_default()
    }

    pub(crate) fn instance_id(self) -> Option<&'r [u8]> {
        // SAFETY: as in `id`.
        unsafe { bytes(sys::ks_member_instance_id(self.raw, self.index)) }
    }

    pub(crate) fn rack(self) -> Option<&'r [u8]> {
        // SAFETY: as in `id`.
        unsafe { bytes(sys::ks_member_rack(self.raw, self.index)) }
    }

    /// The topics subscribed to, whether they exist or not.
    pub(crate) fn subscription(self) -> impl Iterator<Item = &'r [u8]> {
        // SAFETY: as in `id`.
        let raw = unsafe { sys::ks_member_subscription(self.raw, self.index) };
        Partitions { raw, callback: PhantomData }.iter().map(|(topic, _)| topic)
    }

    /// The assignor's own part of the subscription message.
    pub(crate) fn user_data(self) -> Option<&'r [u8]> {
        // SAFETY: as in `id`; `tell` replaces it, but takes the round mutably, which ends 'r.
        unsafe { bytes(sys::ks_member_user_data(self.raw, self.index)) }
    }

    /// What the subscription says the member owns, with its generation (negative: not said); `None` below version 1.
    pub(crate) fn owned(self) -> Option<(Partitions<'r>, i32)> {
        // SAFETY: as in `id`.
        let (raw, generation) = unsafe {
            (sys::ks_member_owned(self.raw, self.index), sys::ks_member_generation(self.raw, self.index))
        };
        (!raw.is_null()).then_some((Partitions { raw, callback: PhantomData }, generation))
    }
}

impl<'r> RoundTopic<'r> {
    pub(crate) fn name(self) -> &'r [u8] {
        // SAFETY: `raw` is valid and the topic exists; metadata is never written during an assignment.
        unsafe { bytes(sys::ks_topic_name(self.raw, self.index)) }.unwrap_or_default()
    }

    /// How many partitions it has, numbered from 0.
    pub(crate) fn partitions(self) -> u32 {
        // SAFETY: as in `name`.
        let count = unsafe { sys::ks_topic_partition_cnt(self.raw, self.index) };
        u32::try_from(count).unwrap_or(0)
    }

    /// The racks of a partition's replicas; none where librdkafka did not ask for them.
    ///
    /// # Panics
    ///
    /// If there is no such partition.
    pub(crate) fn racks(self, partition: u32) -> impl Iterator<Item = &'r [u8]> {
        assert!(partition < self.partitions(), "no partition {partition}");
        let partition = partition as usize;
        // SAFETY: as in `name`; the partition exists, so its internal metadata does.
        let len = unsafe { sys::ks_partition_rack_cnt(self.raw, self.index, partition) };
        // SAFETY: as above; the index is below the length.
        (0..len)
            .filter_map(move |i| unsafe { bytes(sys::ks_partition_rack(self.raw, self.index, partition, i)) })
    }
}

/// What this member was given.
#[derive(Clone, Copy)]
pub(crate) struct Share<'c> {
    raw: *const sys::Share,
    callback: PhantomData<&'c ()>,
}

impl<'c> Share<'c> {
    pub(crate) fn generation(self) -> i32 {
        // SAFETY: `raw` is valid during the callback 'c.
        unsafe { sys::ks_share_generation(self.raw) }
    }

    pub(crate) fn member_id(self) -> &'c [u8] {
        // SAFETY: as above.
        unsafe { bytes(sys::ks_share_member_id(self.raw)) }.unwrap_or_default()
    }

    pub(crate) fn partitions(self) -> Partitions<'c> {
        // SAFETY: as above.
        Partitions { raw: unsafe { sys::ks_share_partitions(self.raw) }, callback: PhantomData }
    }
}

/// A list of partitions of librdkafka's.
#[derive(Clone, Copy)]
pub(crate) struct Partitions<'c> {
    raw: *const sys::List,
    callback: PhantomData<&'c ()>,
}

impl<'c> Partitions<'c> {
    /// Topic and partition number, which may be negative where another member sent it.
    pub(crate) fn iter(self) -> impl Iterator<Item = (&'c [u8], i32)> {
        // SAFETY: `raw` is null, which counts as empty, or valid during 'c; nobody changes the list in it.
        let len = unsafe { sys::ks_list_len(self.raw) };
        (0..len).filter_map(move |i| {
            // SAFETY: as above; the index is below the length.
            let (topic, partition) =
                unsafe { (bytes(sys::ks_list_topic(self.raw, i)), sys::ks_list_partition(self.raw, i)) };
            Some((topic?, partition))
        })
    }
}

/// # Safety
///
/// Where `data` is not null, `len` bytes from there are readable and unchanged for 'a.
unsafe fn bytes<'a>(slice: sys::Slice) -> Option<&'a [u8]> {
    let data = NonNull::new(slice.data.cast_mut())?.cast::<u8>();
    // SAFETY: as promised by the caller.
    Some(unsafe { slice::from_raw_parts(data.as_ptr(), slice.len) })
}

/// Sets how long the mock cluster inside `client` waits for more members before a new group's first assignment; false
/// where there is no mock cluster.
#[cfg(feature = "mocking")]
pub(crate) fn mock_initial_rebalance_delay<C: ClientContext>(client: &Client<C>, millis: i32) -> bool {
    // SAFETY: the native client lives as long as the client that is borrowed here.
    let cluster = unsafe { rdkafka_sys::rd_kafka_handle_mock_cluster(client.native_ptr()) };
    if cluster.is_null() {
        return false;
    }
    // SAFETY: the mock cluster belongs to the live client; the function takes its lock.
    unsafe { rdkafka_sys::rd_kafka_mock_group_initial_rebalance_delay_ms(cluster, millis) };
    true
}
