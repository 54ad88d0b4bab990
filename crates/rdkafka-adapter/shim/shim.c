/* First: it sets the feature macros that the system's headers then obey. */
#include "rdkafka_int.h"
#include "rdkafka_assignor.h"
#include "rdkafka_cgrp.h"
#include "rdkafka_interceptor.h"
#include "rdkafka_metadata.h"
#include "rdkafka_op.h"
#include "rdkafka_queue.h"
#include "rdkafka_topic.h"

#include <limits.h>

#include "shim.h"

/* Internal headers follow no promise: what is used here was read in this version and no other. */
#define KS_LIBRDKAFKA_VERSION 0x020c01ff
_Static_assert(RD_KAFKA_VERSION == KS_LIBRDKAFKA_VERSION,
               "kafka-sticky-rdkafka-adapter is written for librdkafka 2.12.1 (rdkafka-sys 4.10.0+2.12.1)");
_Static_assert(sizeof(ks_slice) == 2 * sizeof(void *) && offsetof(ks_slice, data) == 0 &&
                   offsetof(ks_slice, len) == sizeof(void *),
               "ks_slice must be a pointer and a length, as its Rust twin is");
_Static_assert(sizeof(void (*)(void)) == sizeof(void *) && sizeof(ks_callbacks) == 6 * sizeof(void *) &&
                   offsetof(ks_callbacks, join) == 0 && offsetof(ks_callbacks, assign) == sizeof(void *) &&
                   offsetof(ks_callbacks, assigned) == 2 * sizeof(void *) &&
                   offsetof(ks_callbacks, revoked) == 3 * sizeof(void *) &&
                   offsetof(ks_callbacks, refused) == 4 * sizeof(void *) &&
                   offsetof(ks_callbacks, rk) == 5 * sizeof(void *),
               "ks_callbacks must be five function pointers in this order and the client, as its Rust twin is");

struct ks_join {
        const rd_kafka_cgrp_t *rkcg;
        const rd_list_t *topics;
        const rd_kafka_topic_partition_list_t *owned;
        const rd_kafkap_str_t *rack;
};

struct ks_round {
        int32_t generation;
        const char *leader_id;
        int64_t matching_us;
        rd_kafka_group_member_t *members;
        size_t member_cnt;
        rd_kafka_assignor_topic_t **topics;
        size_t topic_cnt;
};

struct ks_share {
        int32_t generation;
        const char *member_id;
        const rd_kafka_topic_partition_list_t *partitions;
        const rd_kafkap_bytes_t *user_data;
};

/* What a strategy of ours hangs on: stands first in the Rust structure that rkas_opaque points to. */
static const ks_callbacks *callbacks_of(const rd_kafka_assignor_t *rkas) {
        return rkas->rkas_opaque;
}

static ks_slice from_kstr(const rd_kafkap_str_t *kstr) {
        if (!kstr || RD_KAFKAP_STR_IS_NULL(kstr))
                return (ks_slice) {NULL, 0};
        return (ks_slice) {kstr->str, (size_t)kstr->len};
}

static ks_slice from_kbytes(const rd_kafkap_bytes_t *kbytes) {
        if (!kbytes || RD_KAFKAP_BYTES_IS_NULL(kbytes) || !kbytes->data)
                return (ks_slice) {NULL, 0};
        return (ks_slice) {kbytes->data, (size_t)kbytes->len};
}

static ks_slice from_cstr(const char *str) {
        if (!str)
                return (ks_slice) {NULL, 0};
        return (ks_slice) {str, strlen(str)};
}

/*
 * librdkafka's callbacks
 */

static rd_kafkap_bytes_t *get_metadata_cb(const rd_kafka_assignor_t *rkas,
                                          void *assignor_state,
                                          const rd_list_t *topics,
                                          const rd_kafka_topic_partition_list_t *owned,
                                          const rd_kafkap_str_t *rack_id) {
        const ks_join join = {callbacks_of(rkas)->rk->rk_cgrp, topics, owned, rack_id};
        ks_bytes *subscription;

        /* assignor_state belongs to whichever strategy is current, so it is never looked at. */
        (void)assignor_state;
        subscription = callbacks_of(rkas)->join(rkas->rkas_opaque, &join);
        if (subscription)
                return (rd_kafkap_bytes_t *)subscription;
        /* Without claims rather than not at all. */
        return rd_kafka_consumer_protocol_member_metadata_new(topics, NULL, 0, NULL, -1, rack_id);
}

static rd_kafkap_bytes_t *builtin_get_metadata_cb(const rd_kafka_assignor_t *rkas,
                                                  void *assignor_state,
                                                  const rd_list_t *topics,
                                                  const rd_kafka_topic_partition_list_t *owned,
                                                  const rd_kafkap_str_t *rack_id) {
        const ks_join join = {callbacks_of(rkas)->rk->rk_cgrp, topics, owned, rack_id};

        (void)callbacks_of(rkas)->join(rkas->rkas_opaque, &join);
        return rd_kafka_assignor_get_metadata_with_empty_userdata(rkas, assignor_state, topics, owned, rack_id);
}

/* librdkafka asks for the metadata of all topics of a round at once, and begins to match topics and members as soon as
 * it has read the answer. Nothing tells when that was but the cache that it went into. */
static int64_t us_since_metadata(rd_kafka_t *rk, rd_kafka_assignor_topic_t **topics, size_t topic_cnt) {
        const struct rd_kafka_metadata_cache_entry *entry;
        int64_t us = -1;

        if (topic_cnt == 0)
                return us;
        rd_kafka_rdlock(rk);
        entry = rd_kafka_metadata_cache_find(rk, topics[0]->metadata->topic, 0);
        if (entry)
                us = rd_clock() - entry->rkmce_ts_insert;
        rd_kafka_rdunlock(rk);
        return us;
}

static rd_kafka_resp_err_t assign_cb(rd_kafka_t *rk,
                                     const rd_kafka_assignor_t *rkas,
                                     const char *member_id,
                                     const rd_kafka_metadata_t *metadata,
                                     rd_kafka_group_member_t *members,
                                     size_t member_cnt,
                                     rd_kafka_assignor_topic_t **eligible_topics,
                                     size_t eligible_topic_cnt,
                                     char *errstr,
                                     size_t errstr_size,
                                     void *opaque) {
        ks_round round = {rk->rk_cgrp->rkcg_generation_id,
                          member_id,
                          us_since_metadata(rk, eligible_topics, eligible_topic_cnt),
                          members,
                          member_cnt,
                          eligible_topics,
                          eligible_topic_cnt};
        size_t i;

        (void)metadata;
        if (callbacks_of(rkas)->assign(opaque, &round, errstr, errstr_size))
                return RD_KAFKA_RESP_ERR__FAIL;
        if (rkas->rkas_protocol != RD_KAFKA_REBALANCE_PROTOCOL_COOPERATIVE)
                return RD_KAFKA_RESP_ERR_NO_ERROR;

        /* librdkafka now takes from each member what another one "owns". The assignment withholds all that must be
         * withheld already, so every member is said to own what it was just given: nothing is left to take. */
        for (i = 0; i < member_cnt; i++) {
                if (members[i].rkgm_owned)
                        rd_kafka_topic_partition_list_destroy(members[i].rkgm_owned);
                members[i].rkgm_owned = rd_kafka_topic_partition_list_copy(members[i].rkgm_assignment);
        }
        return RD_KAFKA_RESP_ERR_NO_ERROR;
}

static void on_assignment_cb(const rd_kafka_assignor_t *rkas,
                             void **assignor_state,
                             const rd_kafka_topic_partition_list_t *assignment,
                             const rd_kafkap_bytes_t *userdata,
                             const rd_kafka_consumer_group_metadata_t *rkcgm) {
        const ks_share share = {rkcgm->generation_id, rkcgm->member_id, assignment, userdata};

        (void)assignor_state;
        callbacks_of(rkas)->assigned(rkas->rkas_opaque, &share);
}

/*
 * What is on its way to the application: librdkafka serves each op of the group's queue with the queue's own callback,
 * if it has one, on the thread that polls.
 */

static rd_kafka_op_res_t
serve_cb(rd_kafka_t *rk, rd_kafka_q_t *rkq, rd_kafka_op_t *rko, rd_kafka_q_cb_type_t cb_type, void *opaque) {
        static const char join_failed[] = "JoinGroup failed: ";
        const ks_callbacks *callbacks   = opaque;

        if (rko->rko_type == RD_KAFKA_OP_REBALANCE) {
                if (rko->rko_err == RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS)
                        callbacks->revoked(opaque, rko->rko_u.rebalance.partitions, rd_kafka_assignment_lost(rk));
        } else if (rko->rko_type == RD_KAFKA_OP_CONSUMER_ERR) {
                if (rko->rko_u.err.errstr &&
                    !strncmp(rko->rko_u.err.errstr, join_failed, sizeof(join_failed) - 1))
                        callbacks->refused(opaque, rko->rko_err);
        }
        /* As for a queue without a callback of its own. */
        return rd_kafka_poll_cb(rk, rkq, rko, cb_type, NULL);
}

/*
 * Installing
 */

int ks_version_built_for(void) {
        return KS_LIBRDKAFKA_VERSION;
}

int ks_check(rd_kafka_t *rk) {
        const rd_kafka_assignor_t *range;
        const rd_kafka_assignor_t *rkas;
        int enabled_cnt = 0;
        int i;

        /* Each of these asks librdkafka through a function and looks through the headers: they agree if the library
         * was built from them. Its structures differ with its build options, not only with its version. */
        if (rd_kafka_conf(rk) != &rk->rk_conf || rd_kafka_type(rk) != rk->rk_type)
                return KS_OTHER_LAYOUT;
        if (rd_kafka_type(rk) != RD_KAFKA_CONSUMER || !rk->rk_cgrp)
                return KS_NO_GROUP;
        if (rk->rk_cgrp->rkcg_rk != rk)
                return KS_OTHER_LAYOUT;
        if (rk->rk_cgrp->rkcg_q->rkq_serve && rk->rk_cgrp->rkcg_q->rkq_serve != serve_cb)
                return KS_OTHER_LAYOUT;
        range = rd_kafka_assignor_find(rk, "range");
        if (!range || rd_kafkap_str_cmp_str(range->rkas_protocol_name, "range"))
                return KS_OTHER_LAYOUT;
        RD_LIST_FOREACH(rkas, &rk->rk_conf.partition_assignors, i) {
                enabled_cnt += rkas->rkas_enabled ? 1 : 0;
        }
        return enabled_cnt == rk->rk_conf.enabled_assignor_cnt ? KS_READY : KS_OTHER_LAYOUT;
}

typedef struct ks_owned {
        void (*drop)(void *opaque);
        void *opaque;
} ks_owned;

static rd_kafka_resp_err_t on_conf_destroy(void *ic_opaque) {
        ks_owned *owned = ic_opaque;

        owned->drop(owned->opaque);
        rd_free(owned);
        return RD_KAFKA_RESP_ERR_NO_ERROR;
}

rd_kafka_resp_err_t ks_own(rd_kafka_t *rk, void (*drop)(void *opaque), void *opaque) {
        ks_owned *owned = rd_malloc(sizeof(*owned));
        rd_kafka_resp_err_t err;

        owned->drop   = drop;
        owned->opaque = opaque;
        /* The client's own copy of the configuration goes last, when its threads and its assignors are gone. */
        err = rd_kafka_conf_interceptor_add_on_conf_destroy(&rk->rk_conf, "kafka-sticky", on_conf_destroy, owned);
        if (err)
                rd_free(owned);
        return err;
}

void ks_disable_all(rd_kafka_t *rk) {
        rd_kafka_assignor_t *rkas;
        int i;

        RD_LIST_FOREACH(rkas, &rk->rk_conf.partition_assignors, i) {
                rkas->rkas_enabled = 0;
                rkas->rkas_index   = INT_MAX;
        }
        rk->rk_conf.enabled_assignor_cnt = 0;
}

/* JoinGroup offers the enabled strategies in the order of the list, and announces their count. */
static void enable_next(rd_kafka_t *rk, rd_kafka_assignor_t *rkas) {
        rd_list_t *list = &rk->rk_conf.partition_assignors;
        int next        = rk->rk_conf.enabled_assignor_cnt;
        int at          = next;

        while (list->rl_elems[at] != rkas)
                at++;
        list->rl_elems[at]   = list->rl_elems[next];
        list->rl_elems[next] = rkas;
        rkas->rkas_enabled   = 1;
        rkas->rkas_index     = next;
        rk->rk_conf.enabled_assignor_cnt++;
        /* It is searched by name but not ordered by it. */
        list->rl_flags &= ~RD_LIST_F_SORTED;
}

rd_kafka_resp_err_t
ks_enable_builtin(rd_kafka_t *rk, const char *name, const ks_callbacks *callbacks, void *opaque) {
        rd_kafka_assignor_t *rkas = rd_kafka_assignor_find(rk, name);

        rd_assert((const void *)callbacks == opaque);
        /* range and roundrobin listen to no assignment themselves. */
        if (!rkas || rkas->rkas_assign_cb == assign_cb ||
            (rkas->rkas_on_assignment_cb && rkas->rkas_on_assignment_cb != on_assignment_cb))
                return RD_KAFKA_RESP_ERR__UNKNOWN_PROTOCOL;
        rkas->rkas_get_metadata_cb  = builtin_get_metadata_cb;
        rkas->rkas_on_assignment_cb = on_assignment_cb;
        rkas->rkas_opaque           = opaque;
        enable_next(rk, rkas);
        return RD_KAFKA_RESP_ERR_NO_ERROR;
}

rd_kafka_resp_err_t ks_enable_ours(rd_kafka_t *rk,
                                   const char *name,
                                   int cooperative,
                                   const ks_callbacks *callbacks,
                                   void *opaque) {
        const rd_kafka_rebalance_protocol_t protocol =
            cooperative ? RD_KAFKA_REBALANCE_PROTOCOL_COOPERATIVE : RD_KAFKA_REBALANCE_PROTOCOL_EAGER;
        rd_kafka_assignor_t *rkas = rd_kafka_assignor_find(rk, name);
        rd_kafka_resp_err_t err;

        rd_assert((const void *)callbacks == opaque);
        if (!rkas) {
                err = rd_kafka_assignor_add(rk, "consumer", name, protocol, assign_cb, get_metadata_cb,
                                            on_assignment_cb, NULL, NULL, opaque);
                if (err)
                        return err;
                rkas = rd_kafka_assignor_find(rk, name);
        }
        /* A built-in of the same name is changed in place: two of one name cannot be offered. */
        rkas->rkas_protocol         = protocol;
        rkas->rkas_assign_cb        = assign_cb;
        rkas->rkas_get_metadata_cb  = get_metadata_cb;
        rkas->rkas_on_assignment_cb = on_assignment_cb;
        rkas->rkas_destroy_state_cb = NULL;
        rkas->rkas_opaque           = opaque;
        if (!rkas->rkas_enabled)
                enable_next(rk, rkas);
        return RD_KAFKA_RESP_ERR_NO_ERROR;
}

void ks_listen(rd_kafka_t *rk, const ks_callbacks *callbacks, void *opaque) {
        rd_kafka_q_t *rkq = rk->rk_cgrp->rkcg_q;

        rd_assert((const void *)callbacks == opaque);
        mtx_lock(&rkq->rkq_lock);
        rkq->rkq_serve  = serve_cb;
        rkq->rkq_opaque = opaque;
        mtx_unlock(&rkq->rkq_lock);
}

ks_slice ks_group_id(rd_kafka_t *rk) {
        return from_cstr(rk->rk_conf.group_id_str);
}

ks_slice ks_client_id(rd_kafka_t *rk) {
        return from_cstr(rk->rk_conf.client_id_str);
}

void *ks_find(rd_kafka_t *rk) {
        const rd_kafka_assignor_t *rkas;
        int i;

        /* A producer has no list of assignors. */
        if (rd_kafka_type(rk) != RD_KAFKA_CONSUMER)
                return NULL;
        RD_LIST_FOREACH(rkas, &rk->rk_conf.partition_assignors, i) {
                if (rkas->rkas_enabled && rkas->rkas_on_assignment_cb == on_assignment_cb)
                        return rkas->rkas_opaque;
        }
        return NULL;
}

/*
 * Partition lists
 */

size_t ks_list_len(const rd_kafka_topic_partition_list_t *list) {
        return list ? (size_t)list->cnt : 0;
}

ks_slice ks_list_topic(const rd_kafka_topic_partition_list_t *list, size_t i) {
        return from_cstr(list->elems[i].topic);
}

int32_t ks_list_partition(const rd_kafka_topic_partition_list_t *list, size_t i) {
        return list->elems[i].partition;
}

/*
 * Joining
 */

size_t ks_join_topic_cnt(const ks_join *join) {
        return (size_t)rd_list_cnt(join->topics);
}

ks_slice ks_join_topic(const ks_join *join, size_t i) {
        const rd_kafka_topic_info_t *info = rd_list_elem(join->topics, (int)i);

        return from_cstr(info->topic);
}

int32_t ks_join_partition_cnt(const ks_join *join, size_t i) {
        const rd_kafka_topic_info_t *info = rd_list_elem(join->topics, (int)i);

        return info->partition_cnt;
}

const rd_kafka_topic_partition_list_t *ks_join_owned(const ks_join *join) {
        return join->owned;
}

ks_slice ks_join_rack(const ks_join *join) {
        return from_kstr(join->rack);
}

ks_slice ks_join_member_id(const ks_join *join) {
        return from_kstr(join->rkcg->rkcg_member_id);
}

ks_slice ks_join_reason(const ks_join *join) {
        return from_cstr(join->rkcg->rkcg_c.rebalance_reason);
}

ks_bytes *ks_bytes_new(const void *data, size_t len) {
        return (ks_bytes *)rd_kafkap_bytes_new(data, (int32_t)len);
}

/*
 * Assigning
 */

int32_t ks_round_generation(const ks_round *round) {
        return round->generation;
}

ks_slice ks_round_leader_id(const ks_round *round) {
        return from_cstr(round->leader_id);
}

int64_t ks_round_matching_us(const ks_round *round) {
        return round->matching_us;
}

size_t ks_round_topic_cnt(const ks_round *round) {
        return round->topic_cnt;
}

ks_slice ks_topic_name(const ks_round *round, size_t topic) {
        return from_cstr(round->topics[topic]->metadata->topic);
}

size_t ks_topic_partition_cnt(const ks_round *round, size_t topic) {
        return (size_t)round->topics[topic]->metadata->partition_cnt;
}

size_t ks_partition_rack_cnt(const ks_round *round, size_t topic, size_t partition) {
        const rd_kafka_metadata_topic_internal_t *internal = round->topics[topic]->metadata_internal;

        return internal && internal->partitions ? internal->partitions[partition].racks_cnt : 0;
}

ks_slice ks_partition_rack(const ks_round *round, size_t topic, size_t partition, size_t i) {
        return from_cstr(round->topics[topic]->metadata_internal->partitions[partition].racks[i]);
}

size_t ks_round_member_cnt(const ks_round *round) {
        return round->member_cnt;
}

ks_slice ks_member_id(const ks_round *round, size_t member) {
        return from_kstr(round->members[member].rkgm_member_id);
}

ks_slice ks_member_instance_id(const ks_round *round, size_t member) {
        return from_kstr(round->members[member].rkgm_group_instance_id);
}

ks_slice ks_member_rack(const ks_round *round, size_t member) {
        return from_kstr(round->members[member].rkgm_rack_id);
}

ks_slice ks_member_user_data(const ks_round *round, size_t member) {
        return from_kbytes(round->members[member].rkgm_userdata);
}

int32_t ks_member_generation(const ks_round *round, size_t member) {
        return round->members[member].rkgm_generation;
}

const rd_kafka_topic_partition_list_t *ks_member_subscription(const ks_round *round, size_t member) {
        return round->members[member].rkgm_subscription;
}

const rd_kafka_topic_partition_list_t *ks_member_owned(const ks_round *round, size_t member) {
        return round->members[member].rkgm_owned;
}

void ks_member_give(ks_round *round, size_t member, size_t topic, int32_t partition) {
        rd_kafka_topic_partition_list_add(round->members[member].rkgm_assignment,
                                          round->topics[topic]->metadata->topic, partition);
}

void ks_member_tell(ks_round *round, size_t member, const void *data, size_t len) {
        rd_kafka_group_member_t *rkgm = &round->members[member];

        if (rkgm->rkgm_userdata)
                rd_kafkap_bytes_destroy(rkgm->rkgm_userdata);
        rkgm->rkgm_userdata = rd_kafkap_bytes_new(data, (int32_t)len);
}

/*
 * Assigned
 */

int32_t ks_share_generation(const ks_share *share) {
        return share->generation;
}

ks_slice ks_share_member_id(const ks_share *share) {
        return from_cstr(share->member_id);
}

const rd_kafka_topic_partition_list_t *ks_share_partitions(const ks_share *share) {
        return share->partitions;
}

ks_slice ks_share_user_data(const ks_share *share) {
        return from_kbytes(share->user_data);
}
