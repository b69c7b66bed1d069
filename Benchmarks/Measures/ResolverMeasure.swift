internal import CausewayRuntime
internal import CausewaySystem
internal import CausewayWire

/// Runs the resolver's internal functions repeatedly. Benchmarks use this type because those functions are not public.
public enum ResolverMeasure {
    /// Decodes a DNS message with all its records.
    ///
    /// - Returns: The total number of questions and records; 0 for malformed input.
    public static func decode(_ bytes: [UInt8], times: Int) -> Int {
        var records = 0
        for _ in 0..<times {
            guard let message = try? DNSMessage(parsing: bytes.span) else { return 0 }
            records += message.questions.count
            records += message.answers.count + message.authorities.count + message.additionals.count
        }
        return records
    }

    /// Resolves names with this host's configuration, for both address families, with a number of concurrent requests.
    ///
    /// - Returns: The number of names with addresses.
    ///
    /// Cancellation: has no effect; all names are resolved.
    public static func lookUp(_ names: [String], atOnce transports: Int) async -> Int {
        await withTaskGroup(of: Int.self) { group in
            for transport in 0..<max(1, transports) {
                group.addTask {
                    var found = 0
                    for number in stride(from: transport, to: names.count, by: max(1, transports)) {
                        if await hasAddress(names[number]) { found += 1 }
                    }
                    return found
                }
            }
            return await group.reduce(0, +)
        }
    }

    private static func hasAddress(_ name: String) async -> Bool {
        let asked = Asked()
        return await withCheckedContinuation { continuation in
            let resolution = ResolverEngine.shared.resolve(NameRequest(name)) { event in
                switch event {
                case .found(let addresses, _, _): asked.count.withLock { $0 += addresses.count }
                case .ended:
                    asked.resolution.withLock { $0 = nil }
                    continuation.resume(returning: asked.count.withLock { $0 } > 0)
                case .settled, .answered: break
                }
            }
            // Store the resolution, because releasing it would cancel it. If the resolution has already ended, it is
            // released with the other values.
            asked.resolution.withLock { $0 = resolution }
        }
    }
}

private final class Asked: Sendable {
    let count = LockedValue(0)
    let resolution = LockedValue<(any NameResolving)?>(nil)
}
