package main

import (
	"fmt"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kgo"
)

func main() {
	fmt.Println(sarama.StickyBalanceStrategyName, kgo.StickyBalancer().ProtocolName())
}
