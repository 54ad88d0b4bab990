package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// A prepared group: call is what is timed, and plan what came out of the last call, by member.
type prepared struct {
	call func() error
	plan func() (map[string]share, error)
}

func assign(groups, answers, warm, measure, balancer string) error {
	prepare, known := map[string]func(*group) (prepared, error){"franz-go": franzGo, "sarama": ofSarama}[balancer]
	if !known {
		return fmt.Errorf("no balancer %s", balancer)
	}
	s, err := newSchedule(warm, measure)
	if err != nil {
		return err
	}
	file, err := os.Create(answers)
	if err != nil {
		return err
	}
	defer file.Close()
	out := bufio.NewWriterSize(file, 1<<20)
	return readGroups(groups, func(g *group) error { return assignOne(g, prepare, s, out) })
}

func assignOne(g *group, prepare func(*group) (prepared, error), s schedule, out *bufio.Writer) error {
	p, err := prepare(g)
	if err != nil {
		return err
	}
	say(map[string]any{"loaded": true})

	start := time.Now()
	err = p.call()
	first := time.Since(start)
	var plan map[string]share
	if err == nil {
		plan, err = p.plan()
	}
	if err != nil {
		binary.Write(out, binary.BigEndian, int32(-1))
		say(map[string]any{"error": err.Error()})
		return out.Flush()
	}
	if err := answer(g, plan, out); err != nil {
		return err
	}
	say(map[string]any{"first_ms": millis(first)})

	times, cpu, err := s.run(start, p.call)
	if err != nil {
		return err
	}
	peak, err := peakKiB()
	if err != nil {
		return err
	}
	say(map[string]any{"warm_ms": times, "cpu_ms": cpu, "peak_kib": peak})
	return nil
}

// franzGo is given each member's metadata as its own client would write it.
func franzGo(g *group) (prepared, error) {
	balancer := kgo.StickyBalancer()
	members := make([]kmsg.JoinGroupResponseMember, len(g.members))
	for i := range g.members {
		m := &g.members[i]
		members[i].MemberID = m.id
		members[i].ProtocolMetadata = balancer.JoinGroupMetadata(g.names(m.subscription), g.claims(m), m.claimed)
	}
	topics := make(map[string]int32, len(g.topics))
	for _, t := range g.topics {
		topics[t.name] = t.partitions
	}

	var plan kgo.IntoSyncAssignment
	call := func() error {
		b, _, err := balancer.MemberBalancer(members)
		if err != nil {
			return err
		}
		if b, ok := b.(kgo.GroupMemberBalancerOrError); ok {
			plan, err = b.BalanceOrError(topics)
			return err
		}
		plan = b.Balance(topics)
		return nil
	}
	return prepared{call, func() (map[string]share, error) {
		shares := make(map[string]share, len(members))
		for _, assigned := range plan.IntoSyncAssignment() {
			parsed, err := kgo.ParseConsumerSyncAssignment(assigned.MemberAssignment)
			if err != nil {
				return nil, err
			}
			shares[assigned.MemberID] = parsed
		}
		return shares, nil
	}}, nil
}

// ofSarama is given members as its leader reads them from a JoinGroup response. Their user data is what a Sarama leader
// put into their last assignment.
func ofSarama(g *group) (prepared, error) {
	strategy := sarama.NewBalanceStrategySticky()
	response := sarama.JoinGroupResponse{}
	for i := range g.members {
		m := &g.members[i]
		metadata := sarama.ConsumerGroupMemberMetadata{Version: 3, Topics: g.names(m.subscription), GenerationID: m.claimed}
		if m.claimed >= 0 {
			userData, err := strategy.AssignmentData(m.id, g.claims(m), m.claimed)
			if err != nil {
				return prepared{}, err
			}
			metadata.UserData = userData
		}
		bytes, err := saramaSubscription(&metadata)
		if err != nil {
			return prepared{}, err
		}
		response.Members = append(response.Members, sarama.GroupMember{MemberId: m.id, Metadata: bytes})
	}
	members, err := response.GetMembers()
	if err != nil {
		return prepared{}, err
	}
	topics := make(map[string][]int32, len(g.topics))
	for _, t := range g.topics {
		for partition := range t.partitions {
			topics[t.name] = append(topics[t.name], partition)
		}
	}

	var plan sarama.BalanceStrategyPlan
	call := func() (err error) {
		plan, err = strategy.Plan(members, topics)
		return err
	}
	return prepared{call, func() (map[string]share, error) {
		shares := make(map[string]share, len(plan))
		for member, topics := range plan {
			shares[member] = topics
		}
		return shares, nil
	}}, nil
}

// saramaSubscription is what Sarama writes into its JoinGroup request.
func saramaSubscription(metadata *sarama.ConsumerGroupMemberMetadata) ([]byte, error) {
	request := sarama.JoinGroupRequest{}
	if err := request.AddGroupProtocolMetadata("sticky", metadata); err != nil {
		return nil, err
	}
	return request.OrderedGroupProtocols[0].Metadata, nil
}

func answer(g *group, plan map[string]share, out *bufio.Writer) error {
	index := make(map[string]int32, len(g.topics))
	for i, t := range g.topics {
		index[t.name] = int32(i)
	}
	buffer := binary.BigEndian.AppendUint32(nil, uint32(len(g.members)))
	for _, m := range g.members {
		topics := plan[m.id]
		buffer = binary.BigEndian.AppendUint32(buffer, uint32(len(topics)))
		for topic, partitions := range topics {
			at, known := index[topic]
			if !known {
				return fmt.Errorf("%s was given partitions of %s, which is no topic", m.id, topic)
			}
			buffer = binary.BigEndian.AppendUint32(buffer, uint32(at))
			buffer = binary.BigEndian.AppendUint32(buffer, uint32(len(partitions)))
			slices.Sort(partitions)
			for _, partition := range partitions {
				buffer = binary.BigEndian.AppendUint32(buffer, uint32(partition))
			}
		}
	}
	out.Write(buffer)
	return out.Flush()
}

func say(line map[string]any) {
	text, err := json.Marshal(line)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(text))
}

// schedule says how often a call is made after its first time: until warm ms have passed since the first began, untimed;
// then for measure ms, timed, and at least three times unless these take five seconds. No calls if measure is 0.
type schedule struct {
	warm, measure float64
}

const mostCalls = 1000

func newSchedule(warm, measure string) (schedule, error) {
	var s schedule
	var err error
	if s.warm, err = strconv.ParseFloat(warm, 64); err != nil {
		return s, err
	}
	s.measure, err = strconv.ParseFloat(measure, 64)
	return s, err
}

// run returns wall times, and the mean CPU time that all threads together took meanwhile.
func (s schedule) run(start time.Time, call func() error) ([]float64, float64, error) {
	times := []float64{}
	if s.measure == 0 {
		return times, 0, nil
	}
	for millis(time.Since(start)) < s.warm {
		if err := call(); err != nil {
			return nil, 0, err
		}
	}
	measuring := time.Now()
	cpu, err := cpuTime()
	if err != nil {
		return nil, 0, err
	}
	passed := func() float64 { return millis(time.Since(measuring)) }
	for len(times) < mostCalls && (passed() < s.measure || len(times) < 3 && passed() < 5_000) {
		began := time.Now()
		if err := call(); err != nil {
			return nil, 0, err
		}
		times = append(times, millis(time.Since(began)))
	}
	since, err := cpuTime()
	return times, millis(since-cpu) / float64(len(times)), err
}

// cpuTime is what all threads of this process took so far.
func cpuTime() (time.Duration, error) {
	var usage syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()), err
}

func millis(d time.Duration) float64 {
	return float64(d.Nanoseconds()) / 1e6
}

// peakKiB is the most memory that this process had.
func peakKiB() (int, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if value, found := strings.CutPrefix(line, "VmHWM:"); found {
			return strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(value), " kB"))
		}
	}
	return 0, fmt.Errorf("no VmHWM in /proc/self/status")
}
