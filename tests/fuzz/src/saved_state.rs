//! Any bytes are a member's saved state or an error, and what was read is in order and reads as itself again.

use kafka_sticky_rdkafka_adapter::SavedState;

/// Reads bytes as a saved state: as they are, and with the checksum that fits them, which chance would not find.
pub fn saved_state(bytes: &[u8]) {
    let sealed = [bytes, &crc32fast::hash(bytes).to_be_bytes()].concat();
    for bytes in [bytes, &sealed] {
        let Ok(state) = SavedState::from_bytes(bytes) else { continue };
        let topics = state.partitions();
        assert!(topics.is_sorted_by(|(a, _), (b, _)| a < b), "{state:?}");
        for (topic, partitions) in topics {
            assert!(!partitions.is_empty() && partitions[0] >= 0, "{topic}: {partitions:?}");
            assert!(partitions.is_sorted_by(|a, b| a < b), "{topic}: {partitions:?}");
        }
        let again = state.to_bytes().expect("what was read can be written");
        assert_eq!(SavedState::from_bytes(&again), Ok(state));
    }
}
