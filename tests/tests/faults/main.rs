//! What goes wrong, one thing at a time, on librdkafka's mock cluster: nothing a broker, a network, a neighbour or the
//! application does may lose a partition, a message or the process.

mod brokers;
mod drops;
mod processes;
mod stage;
