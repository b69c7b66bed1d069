internal import CausewaySystem

/// Counts the changes of the DNS servers that this process queries.
///
/// The network model reads the resolver files itself, and can have new servers before the resolver uses them. A
/// connection that then tries again still asks the old servers, so the later change must be visible in the model, too.
enum ResolverRevision {
    private static let count = LockedValue<UInt64>(0)

    static var current: UInt64 { count.withLock { $0 } }

    static func increase() { count.withLock { $0 += 1 } }
}
