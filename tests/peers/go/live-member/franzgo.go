package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// watchedBalancer is franz-go's own, which also tells that it balanced.
type watchedBalancer struct {
	kgo.GroupBalancer
	watch *watch
}

func (b watchedBalancer) MemberBalancer(
	members []kmsg.JoinGroupResponseMember,
) (kgo.GroupMemberBalancer, map[string]struct{}, error) {
	b.watch.led()
	return b.GroupBalancer.MemberBalancer(members)
}

func runFranzGo(ctx context.Context, here place) error {
	seen := &watch{topics: here.Topics, has: partitions{}}
	client, err := kgo.NewClient(franzGoOptions(here, seen)...)
	if err != nil {
		return err
	}
	// What was polled last is committed on the way out, as on every revocation.
	defer client.Close()
	for {
		fetches := client.PollRecords(ctx, 100)
		if ctx.Err() != nil {
			client.AllowRebalance()
			return nil
		}
		fetches.EachError(func(topic string, partition int32, err error) {
			failed(fmt.Errorf("%s-%d: %w", topic, partition, err))
		})
		_, generation := client.GroupMetadata()
		fetches.EachRecord(func(record *kgo.Record) {
			read(record.Topic, record.Partition, record.Offset, generation)
		})
		client.AllowRebalance()
	}
}

func franzGoOptions(here place, seen *watch) []kgo.Opt {
	balancers := []kgo.GroupBalancer{}
	for _, name := range here.Strategies {
		balancer := map[string]func() kgo.GroupBalancer{
			"sticky":             kgo.StickyBalancer,
			"cooperative-sticky": kgo.CooperativeStickyBalancer,
			"range":              kgo.RangeBalancer,
			"roundrobin":         kgo.RoundRobinBalancer,
		}[name]()
		balancers = append(balancers, watchedBalancer{balancer, seen})
	}
	millis := func(count int) time.Duration { return time.Duration(count) * time.Millisecond }
	revoked := func(ctx context.Context, client *kgo.Client, these map[string][]int32) {
		if err := client.CommitUncommittedOffsets(ctx); err != nil {
			failed(err)
		}
		seen.gone("Revoked", maps.Clone(these))
	}
	options := []kgo.Opt{
		kgo.SeedBrokers(here.BootstrapServers),
		kgo.ConsumerGroup(here.Group),
		kgo.ClientID(here.Name),
		kgo.ConsumeTopics(here.Topics...),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.Balancers(balancers...),
		kgo.SessionTimeout(millis(here.SessionTimeoutMs)),
		kgo.HeartbeatInterval(millis(here.HeartbeatIntervalMs)),
		kgo.MetadataMaxAge(millis(here.MetadataMaxAgeMs)),
		kgo.MetadataMinAge(millis(here.MetadataMaxAgeMs) / 2),
		kgo.AutoCommitInterval(millis(here.CommitIntervalMs)),
		kgo.BlockRebalanceOnPoll(),
		kgo.WithLogger(kgo.BasicLogger(os.Stderr, kgo.LogLevelInfo, nil)),
		kgo.OnPartitionsAssigned(func(_ context.Context, client *kgo.Client, added map[string][]int32) {
			memberID, generation := client.GroupMetadata()
			seen.assigned(generation, memberID, added)
		}),
		kgo.OnPartitionsRevoked(revoked),
		kgo.OnPartitionsLost(func(_ context.Context, _ *kgo.Client, lost map[string][]int32) {
			seen.gone("Lost", maps.Clone(lost))
		}),
	}
	if here.InstanceID != nil {
		options = append(options, kgo.InstanceID(*here.InstanceID))
	}
	if here.Rack != nil {
		options = append(options, kgo.Rack(*here.Rack))
	}
	return options
}
