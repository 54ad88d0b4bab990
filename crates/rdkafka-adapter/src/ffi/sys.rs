//! `shim/shim.h`, declaration by declaration.

use std::ffi::{c_char, c_int, c_void};
use std::mem;

use rdkafka::types::{RDKafka, RDKafkaRespErr};

macro_rules! opaque {
    ($($(#[$doc:meta])* $name:ident)*) => {
        $($(#[$doc])* #[repr(C)] pub(super) struct $name { _private: [u8; 0] })*
    };
}

opaque! {
    /// `ks_join`
    Join
    /// `ks_round`
    Round
    /// `ks_share`
    Share
    /// `ks_bytes`
    Bytes
    /// `rd_kafka_topic_partition_list_t`
    List
}

/// `ks_slice`
#[repr(C)]
pub(super) struct Slice {
    pub(super) data: *const c_void,
    pub(super) len: usize,
}

/// `ks_callbacks`
#[repr(C)]
pub(super) struct Callbacks {
    pub(super) join: unsafe extern "C" fn(*mut c_void, *const Join) -> *mut Bytes,
    pub(super) assign: unsafe extern "C" fn(*mut c_void, *mut Round, *mut c_char, usize) -> c_int,
    pub(super) assigned: unsafe extern "C" fn(*mut c_void, *const Share),
    pub(super) revoked: unsafe extern "C" fn(*mut c_void, *const List, c_int),
    pub(super) refused: unsafe extern "C" fn(*mut c_void, RDKafkaRespErr),
    pub(super) rk: *mut RDKafka,
}

// shim.c asserts the same of its side.
const _: () = {
    const POINTER: usize = size_of::<*const c_void>();
    assert!(size_of::<Slice>() == 2 * POINTER);
    assert!(mem::offset_of!(Slice, data) == 0);
    assert!(mem::offset_of!(Slice, len) == POINTER);
    assert!(size_of::<Callbacks>() == 6 * POINTER);
    assert!(mem::offset_of!(Callbacks, join) == 0);
    assert!(mem::offset_of!(Callbacks, assign) == POINTER);
    assert!(mem::offset_of!(Callbacks, assigned) == 2 * POINTER);
    assert!(mem::offset_of!(Callbacks, revoked) == 3 * POINTER);
    assert!(mem::offset_of!(Callbacks, refused) == 4 * POINTER);
    assert!(mem::offset_of!(Callbacks, rk) == 5 * POINTER);
};

pub(super) const KS_READY: c_int = 0;
pub(super) const KS_NO_GROUP: c_int = 1;

unsafe extern "C" {
    pub(super) fn ks_version_built_for() -> c_int;
    pub(super) fn ks_check(rk: *mut RDKafka) -> c_int;
    pub(super) fn ks_own(
        rk: *mut RDKafka,
        drop: unsafe extern "C" fn(*mut c_void),
        opaque: *mut c_void,
    ) -> RDKafkaRespErr;
    pub(super) fn ks_disable_all(rk: *mut RDKafka);
    pub(super) fn ks_enable_builtin(
        rk: *mut RDKafka,
        name: *const c_char,
        callbacks: *const Callbacks,
        opaque: *mut c_void,
    ) -> RDKafkaRespErr;
    pub(super) fn ks_enable_ours(
        rk: *mut RDKafka,
        name: *const c_char,
        cooperative: c_int,
        callbacks: *const Callbacks,
        opaque: *mut c_void,
    ) -> RDKafkaRespErr;
    pub(super) fn ks_listen(rk: *mut RDKafka, callbacks: *const Callbacks, opaque: *mut c_void);
    pub(super) fn ks_find(rk: *mut RDKafka) -> *mut c_void;
    pub(super) fn ks_group_id(rk: *mut RDKafka) -> Slice;
    pub(super) fn ks_client_id(rk: *mut RDKafka) -> Slice;

    pub(super) fn ks_list_len(list: *const List) -> usize;
    pub(super) fn ks_list_topic(list: *const List, i: usize) -> Slice;
    pub(super) fn ks_list_partition(list: *const List, i: usize) -> i32;

    pub(super) fn ks_join_topic_cnt(join: *const Join) -> usize;
    pub(super) fn ks_join_topic(join: *const Join, i: usize) -> Slice;
    pub(super) fn ks_join_partition_cnt(join: *const Join, i: usize) -> i32;
    pub(super) fn ks_join_owned(join: *const Join) -> *const List;
    pub(super) fn ks_join_rack(join: *const Join) -> Slice;
    pub(super) fn ks_join_member_id(join: *const Join) -> Slice;
    pub(super) fn ks_join_reason(join: *const Join) -> Slice;
    pub(super) fn ks_bytes_new(data: *const c_void, len: usize) -> *mut Bytes;

    pub(super) fn ks_round_generation(round: *const Round) -> i32;
    pub(super) fn ks_round_leader_id(round: *const Round) -> Slice;
    pub(super) fn ks_round_matching_us(round: *const Round) -> i64;
    pub(super) fn ks_round_topic_cnt(round: *const Round) -> usize;
    pub(super) fn ks_topic_name(round: *const Round, topic: usize) -> Slice;
    pub(super) fn ks_topic_partition_cnt(round: *const Round, topic: usize) -> usize;
    pub(super) fn ks_partition_rack_cnt(round: *const Round, topic: usize, partition: usize) -> usize;
    pub(super) fn ks_partition_rack(round: *const Round, topic: usize, partition: usize, i: usize) -> Slice;
    pub(super) fn ks_round_member_cnt(round: *const Round) -> usize;
    pub(super) fn ks_member_id(round: *const Round, member: usize) -> Slice;
    pub(super) fn ks_member_instance_id(round: *const Round, member: usize) -> Slice;
    pub(super) fn ks_member_rack(round: *const Round, member: usize) -> Slice;
    pub(super) fn ks_member_user_data(round: *const Round, member: usize) -> Slice;
    pub(super) fn ks_member_generation(round: *const Round, member: usize) -> i32;
    pub(super) fn ks_member_subscription(round: *const Round, member: usize) -> *const List;
    pub(super) fn ks_member_owned(round: *const Round, member: usize) -> *const List;
    pub(super) fn ks_member_give(round: *mut Round, member: usize, topic: usize, partition: i32);
    pub(super) fn ks_member_tell(round: *mut Round, member: usize, data: *const c_void, len: usize);

    pub(super) fn ks_share_generation(share: *const Share) -> i32;
    pub(super) fn ks_share_member_id(share: *const Share) -> Slice;
    pub(super) fn ks_share_partitions(share: *const Share) -> *const List;
}
