/*
 * The boundary between librdkafka's internals and Rust.
 *
 * Rust sees no structure of librdkafka's: it holds opaque pointers and asks through the functions below, which are
 * compiled against the internal headers of the very tree that librdkafka was built from. What crosses by value is
 * ks_slice alone, whose layout both sides assert at build time.
 */
#ifndef KAFKA_STICKY_SHIM_H
#define KAFKA_STICKY_SHIM_H

#include <stddef.h>
#include <stdint.h>

#include "rdkafka.h"

/* Bytes that somebody else owns. `data` is NULL for Kafka's null, as opposed to empty. */
typedef struct ks_slice {
        const void *data;
        size_t len;
} ks_slice;

typedef struct ks_join ks_join;   /* a JoinGroup request being written */
typedef struct ks_round ks_round; /* an assignment being computed by the leader */
typedef struct ks_share ks_share; /* the assignment that this member was given */
typedef struct ks_bytes ks_bytes; /* a rd_kafkap_bytes_t that librdkafka will free */

/* What Rust implements. librdkafka calls the first three on its main thread, the other two on the thread that polls. */
typedef struct ks_callbacks {
        /* The subscription message of the next JoinGroup, made by ks_bytes_new; NULL if it could not be made. Of a
         * strategy of librdkafka's, whose message is its own affair, always NULL. */
        ks_bytes *(*join)(void *opaque, const ks_join *join);
        /* 0 on success; otherwise a nul-terminated reason in errstr. */
        int (*assign)(void *opaque, ks_round *round, char *errstr, size_t errstr_size);
        void (*assigned)(void *opaque, const ks_share *share);
        /* The application is about to be told that it has to give these up, or has lost them already. */
        void (*revoked)(void *opaque, const rd_kafka_topic_partition_list_t *partitions, int lost);
        /* The application is about to be told that the group would not have it. */
        void (*refused)(void *opaque, rd_kafka_resp_err_t err);
        /* The client that this is installed in. */
        rd_kafka_t *rk;
} ks_callbacks;

/* Installing. All but ks_version are called on the thread that created the client, before it subscribes. */
typedef enum ks_state {
        KS_READY        = 0,
        KS_NO_GROUP     = 1, /* not a consumer, or without group.id */
        KS_OTHER_LAYOUT = 2, /* the library linked is not the one whose headers this was compiled with */
} ks_state;

int ks_version_built_for(void);
int ks_check(rd_kafka_t *rk);
/* From here on the client owns `opaque`: `drop` is called once, after its last thread has ended. */
rd_kafka_resp_err_t ks_own(rd_kafka_t *rk, void (*drop)(void *opaque), void *opaque);
/* No strategy is enabled after this; each of the following enables one more, in order of preference. */
void ks_disable_all(rd_kafka_t *rk);
/* librdkafka's own, of whose callbacks only `assigned` is used. */
rd_kafka_resp_err_t
ks_enable_builtin(rd_kafka_t *rk, const char *name, const ks_callbacks *callbacks, void *opaque);
rd_kafka_resp_err_t ks_enable_ours(rd_kafka_t *rk,
                                   const char *name,
                                   int cooperative,
                                   const ks_callbacks *callbacks,
                                   void *opaque);
/* `revoked` and `refused` are called for the whole client. */
void ks_listen(rd_kafka_t *rk, const ks_callbacks *callbacks, void *opaque);
/* An opaque given to one of the first two above; NULL where none was. */
void *ks_find(rd_kafka_t *rk);
/* `group.id` and `client.id`, which never change. */
ks_slice ks_group_id(rd_kafka_t *rk);
ks_slice ks_client_id(rd_kafka_t *rk);

/* Partition lists: what a member owns, subscribes to, or was given. NULL is the empty list. */
size_t ks_list_len(const rd_kafka_topic_partition_list_t *list);
ks_slice ks_list_topic(const rd_kafka_topic_partition_list_t *list, size_t i);
int32_t ks_list_partition(const rd_kafka_topic_partition_list_t *list, size_t i);

/* Joining */
size_t ks_join_topic_cnt(const ks_join *join);
ks_slice ks_join_topic(const ks_join *join, size_t i);
int32_t ks_join_partition_cnt(const ks_join *join, size_t i);
const rd_kafka_topic_partition_list_t *ks_join_owned(const ks_join *join);
ks_slice ks_join_rack(const ks_join *join);
/* Empty where the broker has yet to give one. */
ks_slice ks_join_member_id(const ks_join *join);
/* Why all partitions were last given up. */
ks_slice ks_join_reason(const ks_join *join);
ks_bytes *ks_bytes_new(const void *data, size_t len);

/* Assigning */
int32_t ks_round_generation(const ks_round *round);
ks_slice ks_round_leader_id(const ks_round *round);
/* Microseconds on the main thread from reading the topics' metadata to this assignment; negative if that is not known. */
int64_t ks_round_matching_us(const ks_round *round);
size_t ks_round_topic_cnt(const ks_round *round);
ks_slice ks_topic_name(const ks_round *round, size_t topic);
size_t ks_topic_partition_cnt(const ks_round *round, size_t topic);
size_t ks_partition_rack_cnt(const ks_round *round, size_t topic, size_t partition);
ks_slice ks_partition_rack(const ks_round *round, size_t topic, size_t partition, size_t i);
size_t ks_round_member_cnt(const ks_round *round);
ks_slice ks_member_id(const ks_round *round, size_t member);
ks_slice ks_member_instance_id(const ks_round *round, size_t member);
ks_slice ks_member_rack(const ks_round *round, size_t member);
ks_slice ks_member_user_data(const ks_round *round, size_t member);
int32_t ks_member_generation(const ks_round *round, size_t member);
const rd_kafka_topic_partition_list_t *ks_member_subscription(const ks_round *round, size_t member);
/* NULL where the subscription has version 0 and so cannot say. */
const rd_kafka_topic_partition_list_t *ks_member_owned(const ks_round *round, size_t member);
void ks_member_give(ks_round *round, size_t member, size_t topic, int32_t partition);
/* Sent to the member with its assignment. NULL data is null. */
void ks_member_tell(ks_round *round, size_t member, const void *data, size_t len);

/* Assigned */
int32_t ks_share_generation(const ks_share *share);
ks_slice ks_share_member_id(const ks_share *share);
const rd_kafka_topic_partition_list_t *ks_share_partitions(const ks_share *share);
ks_slice ks_share_user_data(const ks_share *share);

#endif
