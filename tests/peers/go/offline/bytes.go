package main

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// message is one that tests/peers/src/bytes/message.rs describes.
type message struct {
	Kind       string   `json:"kind"`
	Version    int16    `json:"version"`
	Topics     []string `json:"topics"`
	UserData   *string  `json:"user_data"`
	Partitions []listed `json:"partitions"`
	Generation *int32   `json:"generation"`
	Rack       *string  `json:"rack"`
}

// listed is a topic and its partitions.
type listed struct {
	topic      string
	partitions []int32
}

type request struct {
	Write *message `json:"write"`
	Read  *struct {
		Kind  string   `json:"kind"`
		Bytes string   `json:"bytes"`
		Among []listed `json:"among"`
	} `json:"read"`
}

// codec is what one client writes and reads by itself.
type codec struct {
	write func(*message) ([]byte, error)
	read  func(kind string, bytes []byte, among []listed) (message, error)
}

// speak answers each line on standard input: a message with its bytes, bytes with their message.
func speak(client string) error {
	c, known := map[string]codec{
		"franz-go": {franzGoWrite, franzGoRead},
		"sarama":   {saramaWrite, saramaRead},
	}[client]
	if !known {
		return fmt.Errorf("no client %s", client)
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var asked request
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			return err
		}
		answer, err := c.answer(&asked)
		if err != nil {
			answer = map[string]any{"cannot": err.Error()}
		}
		say(answer)
	}
	return lines.Err()
}

func (c codec) answer(asked *request) (map[string]any, error) {
	if asked.Write != nil {
		bytes, err := c.write(asked.Write)
		return map[string]any{"bytes": hex.EncodeToString(bytes)}, err
	}
	bytes, err := hex.DecodeString(asked.Read.Bytes)
	if err != nil {
		return nil, err
	}
	m, err := c.read(asked.Read.Kind, bytes, asked.Read.Among)
	m.Kind = asked.Read.Kind
	return map[string]any{"message": m}, err
}

func franzGoWrite(m *message) ([]byte, error) {
	userData, err := m.userData()
	if err != nil {
		return nil, err
	}
	switch m.Kind {
	case "subscription":
		wire := kmsg.NewConsumerMemberMetadata()
		wire.Version, wire.Topics, wire.UserData, wire.Generation, wire.Rack = m.Version, m.Topics, userData, *m.Generation, m.Rack
		for _, l := range m.Partitions {
			owned := kmsg.NewConsumerMemberMetadataOwnedPartition()
			owned.Topic, owned.Partitions = l.topic, l.partitions
			wire.OwnedPartitions = append(wire.OwnedPartitions, owned)
		}
		return wire.AppendTo(nil), nil
	case "assignment":
		wire := kmsg.NewConsumerMemberAssignment()
		wire.Version, wire.UserData = m.Version, userData
		for _, l := range m.Partitions {
			topic := kmsg.NewConsumerMemberAssignmentTopic()
			topic.Topic, topic.Partitions = l.topic, l.partitions
			wire.Topics = append(wire.Topics, topic)
		}
		return wire.AppendTo(nil), nil
	case "sticky":
		if m.Version != 1 {
			return nil, fmt.Errorf("it writes version 1 alone")
		}
		joined := kgo.StickyBalancer().JoinGroupMetadata([]string{"topic"}, m.share(), *m.Generation)
		var wire kmsg.ConsumerMemberMetadata
		err := wire.ReadFrom(joined)
		return wire.UserData, err
	}
	return nil, fmt.Errorf("it has no %s", m.Kind)
}

func franzGoRead(kind string, bytes []byte, _ []listed) (message, error) {
	switch kind {
	case "subscription":
		wire := kmsg.NewConsumerMemberMetadata()
		err := wire.ReadFrom(bytes)
		m := message{Version: wire.Version, Topics: wire.Topics, UserData: encoded(wire.UserData), Generation: &wire.Generation, Rack: wire.Rack}
		for _, owned := range wire.OwnedPartitions {
			m.Partitions = append(m.Partitions, listed{owned.Topic, owned.Partitions})
		}
		return m, err
	case "assignment":
		wire := kmsg.NewConsumerMemberAssignment()
		err := wire.ReadFrom(bytes)
		m := message{Version: wire.Version, UserData: encoded(wire.UserData)}
		for _, topic := range wire.Topics {
			m.Partitions = append(m.Partitions, listed{topic.Topic, topic.Partitions})
		}
		return m, err
	case "sticky":
		var wire kmsg.StickyMemberMetadata
		err := wire.ReadFrom(bytes)
		m := message{Generation: &wire.Generation}
		if wire.Generation >= 0 {
			m.Version = 1
		}
		for _, topic := range wire.CurrentAssignment {
			m.Partitions = append(m.Partitions, listed{topic.Topic, topic.Partitions})
		}
		return m, err
	}
	return message{}, fmt.Errorf("it has no %s", kind)
}

func saramaWrite(m *message) ([]byte, error) {
	userData, err := m.userData()
	if err != nil {
		return nil, err
	}
	switch m.Kind {
	case "subscription":
		wire := sarama.ConsumerGroupMemberMetadata{Version: m.Version, Topics: m.Topics, UserData: userData, GenerationID: *m.Generation, RackID: m.Rack}
		for _, l := range m.Partitions {
			wire.OwnedPartitions = append(wire.OwnedPartitions, &sarama.OwnedPartition{Topic: l.topic, Partitions: l.partitions})
		}
		return saramaSubscription(&wire)
	case "assignment":
		wire := sarama.ConsumerGroupMemberAssignment{Version: m.Version, Topics: m.share(), UserData: userData}
		sync := sarama.SyncGroupRequest{}
		if err := sync.AddGroupAssignmentMember("member", &wire); err != nil {
			return nil, err
		}
		return sync.GroupAssignments[0].Assignment, nil
	case "sticky":
		if m.Version != 1 {
			return nil, fmt.Errorf("it writes version 1 alone")
		}
		return sarama.NewBalanceStrategySticky().AssignmentData("member", m.share(), *m.Generation)
	}
	return nil, fmt.Errorf("it has no %s", m.Kind)
}

func saramaRead(kind string, bytes []byte, among []listed) (message, error) {
	switch kind {
	case "subscription":
		response := sarama.JoinGroupResponse{Members: []sarama.GroupMember{{MemberId: "member", Metadata: bytes}}}
		members, err := response.GetMembers()
		wire := members["member"]
		m := message{Version: wire.Version, Topics: wire.Topics, UserData: encoded(wire.UserData), Generation: &wire.GenerationID, Rack: wire.RackID}
		for _, owned := range wire.OwnedPartitions {
			m.Partitions = append(m.Partitions, listed{owned.Topic, owned.Partitions})
		}
		return m, err
	case "assignment":
		response := sarama.SyncGroupResponse{MemberAssignment: bytes}
		wire, err := response.GetMemberAssignment()
		if err != nil {
			return message{}, err
		}
		return message{Version: wire.Version, UserData: encoded(wire.UserData), Partitions: sorted(wire.Topics)}, nil
	case "sticky":
		kept, err := saramaKept(bytes, among)
		return message{Partitions: sorted(kept)}, err
	}
	return message{}, fmt.Errorf("it has no %s", kind)
}

// saramaKept is what Sarama's balancer makes of user data, which it reads by itself: one member sends it and another
// nothing, and half of all there is is what it says. What is understood stays where it was.
func saramaKept(userData []byte, among []listed) (share, error) {
	topics := make(map[string][]int32, len(among))
	for _, l := range among {
		topics[l.topic] = l.partitions
	}
	subscribed := slices.Collect(maps.Keys(topics))
	plan, err := sarama.NewBalanceStrategySticky().Plan(map[string]sarama.ConsumerGroupMemberMetadata{
		"claimant": {Topics: subscribed, UserData: userData},
		"other":    {Topics: subscribed},
	}, topics)
	return plan["claimant"], err
}

func (m *message) share() share {
	topics := make(share, len(m.Partitions))
	for _, l := range m.Partitions {
		topics[l.topic] = append(topics[l.topic], l.partitions...)
	}
	return topics
}

func (m *message) userData() ([]byte, error) {
	if m.UserData == nil {
		return nil, nil
	}
	return hex.DecodeString(*m.UserData)
}

func encoded(bytes []byte) *string {
	if bytes == nil {
		return nil
	}
	text := hex.EncodeToString(bytes)
	return &text
}

func sorted(topics share) []listed {
	var all []listed
	for _, topic := range slices.Sorted(maps.Keys(topics)) {
		all = append(all, listed{topic, topics[topic]})
	}
	return all
}

func (l listed) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{l.topic, l.partitions})
}

func (l *listed) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, &[]any{&l.topic, &l.partitions})
}
