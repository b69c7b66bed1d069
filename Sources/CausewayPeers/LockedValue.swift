internal import CausewaySystem

/// A value behind a lock. On Apple systems, the standard library's `Mutex` replaces it; on Linux, ThreadSanitizer does not recognize
/// `Mutex`.
typealias LockedValue<Value: ~Copyable> = CausewaySystem.LockedValue<Value>
