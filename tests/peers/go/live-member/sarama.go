package main

import (
	"context"
	"errors"
	"log"
	"os"
	"time"

	"github.com/IBM/sarama"
)

// watchedStrategy is Sarama's own, which also tells that it planned.
type watchedStrategy struct {
	sarama.BalanceStrategy
	watch *watch
}

func (s watchedStrategy) Plan(
	members map[string]sarama.ConsumerGroupMemberMetadata, topics map[string][]int32,
) (sarama.BalanceStrategyPlan, error) {
	s.watch.led()
	return s.BalanceStrategy.Plan(members, topics)
}

func runSarama(ctx context.Context, here place) error {
	sarama.Logger = log.New(os.Stderr, "", log.LstdFlags|log.Lmicroseconds)
	seen := &watch{topics: here.Topics, has: partitions{}}
	group, err := sarama.NewConsumerGroup([]string{here.BootstrapServers}, here.Group, saramaConfig(here, seen))
	if err != nil {
		return err
	}
	defer group.Close()
	for ctx.Err() == nil {
		err := group.Consume(ctx, here.Topics, saramaHandler{seen})
		if errors.Is(err, sarama.ErrClosedConsumerGroup) || errors.Is(err, sarama.ErrFencedInstancedId) {
			return err
		}
		if err != nil {
			failed(err)
			// It gave up for now, as while a topic is missing.
			time.Sleep(200 * time.Millisecond)
		}
	}
	return nil
}

func saramaConfig(here place, seen *watch) *sarama.Config {
	config := sarama.NewConfig()
	config.Version = sarama.V2_8_0_0
	config.ClientID = here.Name
	millis := func(count int) time.Duration { return time.Duration(count) * time.Millisecond }
	strategies := []sarama.BalanceStrategy{}
	for _, name := range here.Strategies {
		strategy := map[string]func() sarama.BalanceStrategy{
			"sticky":     sarama.NewBalanceStrategySticky,
			"range":      sarama.NewBalanceStrategyRange,
			"roundrobin": sarama.NewBalanceStrategyRoundRobin,
		}[name]()
		strategies = append(strategies, watchedStrategy{strategy, seen})
	}
	config.Consumer.Group.Rebalance.GroupStrategies = strategies
	config.Consumer.Group.Session.Timeout = millis(here.SessionTimeoutMs)
	config.Consumer.Group.Heartbeat.Interval = millis(here.HeartbeatIntervalMs)
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	config.Consumer.Offsets.AutoCommit.Interval = millis(here.CommitIntervalMs)
	config.Metadata.RefreshFrequency = millis(here.MetadataMaxAgeMs)
	if here.InstanceID != nil {
		config.Consumer.Group.InstanceId = *here.InstanceID
	}
	if here.Rack != nil {
		config.RackID = *here.Rack
	}
	return config
}

type saramaHandler struct {
	watch *watch
}

func (h saramaHandler) Setup(session sarama.ConsumerGroupSession) error {
	h.watch.assigned(session.GenerationID(), session.MemberID(), session.Claims())
	return nil
}

func (h saramaHandler) Cleanup(session sarama.ConsumerGroupSession) error {
	h.watch.gone("Revoked", session.Claims())
	return nil
}

func (h saramaHandler) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for {
		select {
		case message, open := <-claim.Messages():
			if !open {
				return nil
			}
			read(message.Topic, message.Partition, message.Offset, session.GenerationID())
			session.MarkMessage(message, "")
		case <-session.Context().Done():
			return nil
		}
	}
}
