/*
 * Assigns each group of a file: GROUPS ANSWERS WARM_MS MEASURE_MS cooperative-sticky.
 *
 * What is timed is rd_kafka_assignor_run(), which a leader of librdkafka calls with members as it read them: it matches
 * topics and subscriptions and calls the built-in assignor. What cooperative members must wait for is taken out after it,
 * elsewhere, and so not here.
 */

/* First: it sets the feature macros that the system's headers then obey. */
#include "rdkafka_int.h"
#include "rdkafka_assignor.h"
#include "rdkafka_cgrp.h"
#include "rdkafka_metadata.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define MOST_CALLS 1000
/* As much as Java's heap may have: it would take what the machine has. */
#define MOST_MEMORY ((rlim_t)8 << 30)

static void stop(const char *why) {
        fprintf(stderr, "peer-librdkafka: %s\n", why);
        exit(1);
}

static void *allocate(size_t count, size_t size) {
        void *memory = calloc(count ? count : 1, size);
        if (!memory)
                stop("out of memory");
        return memory;
}

static double clock_ms(clockid_t clock) {
        struct timespec now;
        clock_gettime(clock, &now);
        return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static double now_ms(void) {
        return clock_ms(CLOCK_MONOTONIC);
}

/* What all threads of this process took. */
static double cpu_ms(void) {
        return clock_ms(CLOCK_PROCESS_CPUTIME_ID);
}

/*
 * The groups, as tests/peers/src/groups.rs writes them
 */

struct topic {
        char *name;
        int32_t partitions;
        int32_t replicas;
        int32_t *racks;
};

struct subscription {
        int32_t topic_cnt;
        int32_t *topics;
};

struct claim {
        int32_t topic;
        int32_t partition_cnt;
        int32_t *partitions;
};

struct member {
        char *id;
        int32_t subscription;
        int32_t rack;
        int32_t claimed;
        int32_t claim_cnt;
        struct claim *claims;
};

struct group {
        int32_t rack_cnt;
        char **racks;
        int32_t topic_cnt;
        struct topic *topics;
        int32_t subscription_cnt;
        struct subscription *subscriptions;
        int32_t member_cnt;
        struct member *members;
};

static void read_bytes(FILE *in, void *to, size_t length) {
        if (fread(to, 1, length, in) != length)
                stop("the groups end too early");
}

static int32_t read_int(FILE *in) {
        unsigned char bytes[4];
        read_bytes(in, bytes, 4);
        return (int32_t)((uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3]);
}

static int32_t *read_ints(FILE *in, int32_t count) {
        int32_t *ints = allocate((size_t)count, sizeof(*ints));
        for (int32_t i = 0; i < count; i++)
                ints[i] = read_int(in);
        return ints;
}

static char *read_string(FILE *in) {
        unsigned char bytes[2];
        read_bytes(in, bytes, 2);
        size_t length = (size_t)bytes[0] << 8 | bytes[1];
        char *string = allocate(length + 1, 1);
        read_bytes(in, string, length);
        return string;
}

static void read_member(FILE *in, struct member *member) {
        member->id           = read_string(in);
        member->subscription = read_int(in);
        member->rack         = read_int(in);
        member->claimed      = read_int(in);
        member->claim_cnt    = read_int(in);
        member->claims       = allocate((size_t)member->claim_cnt, sizeof(*member->claims));
        for (int32_t i = 0; i < member->claim_cnt; i++) {
                struct claim *claim  = &member->claims[i];
                claim->topic         = read_int(in);
                claim->partition_cnt = read_int(in);
                claim->partitions    = read_ints(in, claim->partition_cnt);
        }
}

/* Never freed: the process ends with its few groups. */
static struct group read_group(FILE *in) {
        struct group group = {0};
        read_int(in); /* the generation being formed, which the assignor is not told */
        group.rack_cnt = read_int(in);
        group.racks    = allocate((size_t)group.rack_cnt, sizeof(*group.racks));
        for (int32_t i = 0; i < group.rack_cnt; i++)
                group.racks[i] = read_string(in);
        group.topic_cnt = read_int(in);
        group.topics    = allocate((size_t)group.topic_cnt, sizeof(*group.topics));
        for (int32_t i = 0; i < group.topic_cnt; i++) {
                struct topic *topic = &group.topics[i];
                topic->name         = read_string(in);
                topic->partitions   = read_int(in);
                topic->replicas     = read_int(in);
                topic->racks        = read_ints(in, topic->partitions * topic->replicas);
        }
        group.subscription_cnt = read_int(in);
        group.subscriptions    = allocate((size_t)group.subscription_cnt, sizeof(*group.subscriptions));
        for (int32_t i = 0; i < group.subscription_cnt; i++) {
                group.subscriptions[i].topic_cnt = read_int(in);
                group.subscriptions[i].topics    = read_ints(in, group.subscriptions[i].topic_cnt);
        }
        group.member_cnt = read_int(in);
        group.members    = allocate((size_t)group.member_cnt, sizeof(*group.members));
        for (int32_t i = 0; i < group.member_cnt; i++)
                read_member(in, &group.members[i]);
        return group;
}

/*
 * What librdkafka has when its assignor is called
 */

static int by_name(const void *a, const void *b) {
        return strcmp(*(char *const *)a, *(char *const *)b);
}

static rd_kafka_metadata_t *metadata_of(const struct group *group) {
        rd_kafka_metadata_topic_t *topics = allocate((size_t)group->topic_cnt, sizeof(*topics));
        for (int32_t i = 0; i < group->topic_cnt; i++) {
                topics[i].topic         = group->topics[i].name;
                topics[i].partition_cnt = group->topics[i].partitions;
        }
        rd_kafka_metadata_t *metadata = rd_kafka_metadata_new_topic_mock(topics, (size_t)group->topic_cnt, -1, 0);
        rd_kafka_metadata_internal_t *internal = rd_kafka_metadata_get_internal(metadata);
        free(topics);
        for (int32_t i = 0; i < group->topic_cnt; i++) {
                const struct topic *topic = &group->topics[i];
                for (int32_t number = 0; topic->replicas && number < topic->partitions; number++) {
                        rd_kafka_metadata_partition_internal_t *partition = &internal->topics[i].partitions[number];
                        partition->racks_cnt = (size_t)topic->replicas;
                        partition->racks     = allocate(partition->racks_cnt, sizeof(*partition->racks));
                        for (int32_t replica = 0; replica < topic->replicas; replica++)
                                partition->racks[replica] =
                                    group->racks[topic->racks[number * topic->replicas + replica]];
                        qsort(partition->racks, partition->racks_cnt, sizeof(*partition->racks), by_name);
                }
        }
        return metadata;
}

static rd_kafka_group_member_t *members_of(const struct group *group) {
        rd_kafka_group_member_t *members = allocate((size_t)group->member_cnt, sizeof(*members));
        for (int32_t i = 0; i < group->member_cnt; i++) {
                const struct member *member             = &group->members[i];
                const struct subscription *subscription = &group->subscriptions[member->subscription];
                rd_kafka_group_member_t *rkgm           = &members[i];

                rkgm->rkgm_member_id         = rd_kafkap_str_new(member->id, -1);
                rkgm->rkgm_group_instance_id = rd_kafkap_str_new(NULL, -1);
                rkgm->rkgm_rack_id    = rd_kafkap_str_new(member->rack < 0 ? NULL : group->racks[member->rack], -1);
                rkgm->rkgm_generation = member->claimed;
                rd_list_init(&rkgm->rkgm_eligible, 0, NULL);
                rkgm->rkgm_subscription = rd_kafka_topic_partition_list_new(subscription->topic_cnt);
                for (int32_t t = 0; t < subscription->topic_cnt; t++)
                        rd_kafka_topic_partition_list_add(
                            rkgm->rkgm_subscription, group->topics[subscription->topics[t]].name, RD_KAFKA_PARTITION_UA);
                rkgm->rkgm_owned = rd_kafka_topic_partition_list_new(0);
                for (int32_t c = 0; c < member->claim_cnt; c++)
                        for (int32_t p = 0; p < member->claims[c].partition_cnt; p++)
                                rd_kafka_topic_partition_list_add(rkgm->rkgm_owned,
                                                                  group->topics[member->claims[c].topic].name,
                                                                  member->claims[c].partitions[p]);
                rkgm->rkgm_assignment = rd_kafka_topic_partition_list_new(subscription->topic_cnt);
        }
        return members;
}

/* As librdkafka does it after each generation, and not timed. */
static void clear_members(rd_kafka_group_member_t *members, int32_t member_cnt) {
        for (int32_t i = 0; i < member_cnt; i++)
                rd_kafka_group_member_clear(&members[i]);
        free(members);
}

/* Takes ms, and adds what CPU it took; the members then have their assignments. */
static double run(rd_kafka_t *rk,
                  const struct group *group,
                  rd_kafka_metadata_t *metadata,
                  rd_kafka_group_member_t *members,
                  double *cpu,
                  rd_kafka_resp_err_t *err) {
        char errstr[512]                 = "";
        const rd_kafka_assignor_t *rkas  = rd_kafka_assignor_find(rk, "cooperative-sticky");
        const double start               = now_ms();
        const double cpu_start           = cpu_ms();

        *err = rd_kafka_assignor_run(rk->rk_cgrp, rkas, metadata, members, group->member_cnt, errstr, sizeof(errstr));
        *cpu += cpu_ms() - cpu_start;
        return now_ms() - start;
}

/*
 * The answers, as tests/peers/src/answers.rs reads them
 */

static void write_int(FILE *out, int32_t value) {
        const uint32_t bits         = (uint32_t)value;
        const unsigned char bytes[] = {(unsigned char)(bits >> 24), (unsigned char)(bits >> 16),
                                       (unsigned char)(bits >> 8), (unsigned char)bits};
        fwrite(bytes, 1, sizeof(bytes), out);
}

static int32_t topic_index(const struct group *group, const char *name) {
        int32_t low = 0, high = group->topic_cnt;
        /* Their names are sorted. */
        while (low < high) {
                const int32_t middle = low + (high - low) / 2;
                if (strcmp(group->topics[middle].name, name) < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        if (low == group->topic_cnt || strcmp(group->topics[low].name, name))
                stop("a topic was assigned that is none");
        return low;
}

static void write_share(FILE *out, const struct group *group, rd_kafka_topic_partition_list_t *share) {
        int32_t topic_cnt = 0;
        rd_kafka_topic_partition_list_sort_by_topic(share);
        for (int i = 0; i < share->cnt; i++)
                topic_cnt += i == 0 || strcmp(share->elems[i].topic, share->elems[i - 1].topic) != 0;
        write_int(out, topic_cnt);
        for (int start = 0, end; start < share->cnt; start = end) {
                for (end = start; end < share->cnt && !strcmp(share->elems[end].topic, share->elems[start].topic);)
                        end++;
                write_int(out, topic_index(group, share->elems[start].topic));
                write_int(out, end - start);
                for (int i = start; i < end; i++)
                        write_int(out, share->elems[i].partition);
        }
}

static long peak_kib(void) {
        char line[256];
        long peak    = -1;
        FILE *status = fopen("/proc/self/status", "r");
        while (status && fgets(line, sizeof(line), status))
                sscanf(line, "VmHWM: %ld", &peak);
        if (peak < 0)
                stop("no VmHWM in /proc/self/status");
        fclose(status);
        return peak;
}

static void assign(rd_kafka_t *rk, FILE *in, FILE *answers, double warm, double measure) {
        const struct group group         = read_group(in);
        rd_kafka_metadata_t *metadata    = metadata_of(&group);
        rd_kafka_group_member_t *members = members_of(&group);
        rd_kafka_resp_err_t err;
        double times[MOST_CALLS];
        int time_cnt = 0;
        double cpu   = 0;

        printf("{\"loaded\":true}\n");
        const double start = now_ms();
        const double first = run(rk, &group, metadata, members, &cpu, &err);
        if (err) {
                write_int(answers, -1);
                fflush(answers);
                printf("{\"error\":\"%s\"}\n", rd_kafka_err2name(err));
                return;
        }
        write_int(answers, group.member_cnt);
        for (int32_t i = 0; i < group.member_cnt; i++)
                write_share(answers, &group, members[i].rkgm_assignment);
        fflush(answers);
        printf("{\"first_ms\":%f}\n", first);
        clear_members(members, group.member_cnt);

        /* Until `warm` ms have passed since the first call began they are not timed; then for `measure` ms they are, and
         * at least three times unless these take five seconds. No calls if `measure` is 0. */
        for (double measuring = 0, untimed = 1; measure > 0 && time_cnt < MOST_CALLS;) {
                if (untimed && now_ms() - start >= warm) {
                        untimed   = 0;
                        cpu       = 0;
                        measuring = now_ms();
                }
                if (!untimed && now_ms() - measuring >= measure &&
                    (time_cnt >= 3 || now_ms() - measuring >= 5000))
                        break;
                members           = members_of(&group);
                const double time = run(rk, &group, metadata, members, &cpu, &err);
                clear_members(members, group.member_cnt);
                if (!untimed)
                        times[time_cnt++] = time;
        }
        printf("{\"warm_ms\":[");
        for (int i = 0; i < time_cnt; i++)
                printf("%s%f", i ? "," : "", times[i]);
        printf("],\"cpu_ms\":%f,\"peak_kib\":%ld}\n", time_cnt ? cpu / time_cnt : 0, peak_kib());
}

int main(int argc, char **argv) {
        char errstr[512];
        if (argc != 6 || strcmp(argv[5], "cooperative-sticky") != 0)
                stop("usage: GROUPS ANSWERS WARM_MS MEASURE_MS cooperative-sticky");
        setvbuf(stdout, NULL, _IOLBF, 0);
        if (setrlimit(RLIMIT_AS, &(struct rlimit){MOST_MEMORY, MOST_MEMORY}))
                stop("cannot limit the memory");

        rd_kafka_conf_t *conf = rd_kafka_conf_new();
        if (rd_kafka_conf_set(conf, "group.id", "group", errstr, sizeof(errstr)) ||
            rd_kafka_conf_set(conf, "partition.assignment.strategy", "cooperative-sticky", errstr, sizeof(errstr)))
                stop(errstr);
        rd_kafka_t *rk = rd_kafka_new(RD_KAFKA_CONSUMER, conf, errstr, sizeof(errstr));
        if (!rk)
                stop(errstr);

        FILE *in = fopen(argv[1], "rb"), *answers = fopen(argv[2], "wb");
        char magic[8];
        if (!in || !answers)
                stop("cannot open the files");
        read_bytes(in, magic, sizeof(magic));
        if (memcmp(magic, "KSGROUPS", sizeof(magic)) != 0)
                stop("not a file of groups");
        for (int32_t left = read_int(in); left > 0; left--)
                assign(rk, in, answers, atof(argv[3]), atof(argv[4]));
        fclose(answers);
        return 0;
}
