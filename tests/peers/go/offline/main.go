// Command offline gives groups to franz-go's and to Sarama's sticky balancers, and bytes to their codecs, without any
// broker.
package main

import (
	"fmt"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "offline:", err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	if len(arguments) == 6 && arguments[0] == "assign" {
		return assign(arguments[1], arguments[2], arguments[3], arguments[4], arguments[5])
	}
	if len(arguments) == 2 && arguments[0] == "bytes" {
		return speak(arguments[1])
	}
	return fmt.Errorf("usage: offline assign GROUPS ANSWERS WARM_MS MEASURE_MS franz-go|sarama, or offline bytes franz-go|sarama")
}
