// A consumer in a group, of franz-go or of Sarama. Its first argument says of which, its second where it belongs, as
// JSON; what it sees goes to standard output, a JSON value a line; "stop" on standard input makes it leave, and the end
// of standard input ends it at once.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
)

// place is where a member belongs.
type place struct {
	BootstrapServers    string   `json:"bootstrap_servers"`
	Group               string   `json:"group"`
	Name                string   `json:"name"`
	Topics              []string `json:"topics"`
	Strategies          []string `json:"strategies"`
	InstanceID          *string  `json:"instance_id"`
	Rack                *string  `json:"rack"`
	SessionTimeoutMs    int      `json:"session_timeout_ms"`
	HeartbeatIntervalMs int      `json:"heartbeat_interval_ms"`
	MetadataMaxAgeMs    int      `json:"metadata_max_age_ms"`
	CommitIntervalMs    int      `json:"commit_interval_ms"`
}

func main() {
	var here place
	if err := json.Unmarshal([]byte(os.Args[2]), &here); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	ctx, stop := context.WithCancel(context.Background())
	go listen(stop)
	run := map[string]func(context.Context, place) error{"franz-go": runFranzGo, "sarama": runSarama}[os.Args[1]]
	if err := run(ctx, here); err != nil {
		failed(err)
		os.Exit(1)
	}
}

func listen(stop func()) {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		if lines.Text() == "stop" {
			stop()
		}
	}
	os.Exit(1)
}
