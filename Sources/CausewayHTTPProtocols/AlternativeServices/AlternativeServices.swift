package import CausewayProtocols

/// The alternative services announced by origins (RFC 7838 §2.2). Times are seconds since 1970.
///
/// Only alternatives of secure origins are stored, because responses from secure origins cannot be forged. Alternatives
/// with a protocol that this library does not support are stored, but not chosen.
package struct AlternativeServices: Sendable {
    private struct Known: Sendable {
        var service: AlternativeService
        var expires: Int
        var persists: Bool
        /// The time until which the alternative is not used after a failure.
        var brokenUntil = 0
        /// Failures since the latest success.
        var failureCount = 0
    }

    /// The maximum number of origins with stored alternatives. Above this number, expired alternatives are removed
    /// first. If that is not enough, origins whose alternatives expire first are removed.
    package static let maximumCount = 1_024
    /// The pause in seconds after an alternative's first failure. The pause doubles with each later failure.
    private static let pause = 300
    /// The maximum number of doublings, which limits the pause to 153,600 s (43 hours).
    private static let maximumDoublings = 9

    private var origins: [HTTPOrigin: [Known]] = [:]

    package init() {}

    package var isEmpty: Bool { origins.isEmpty }
    package var count: Int { origins.count }

    /// Stores the alternatives from an origin's response. They replace the origin's earlier alternatives; the failure
    /// counts remain.
    ///
    /// - Parameters:
    ///   - field: The field.
    ///   - origin: The requested origin, authenticated by its certificate.
    ///   - age: The response's age in seconds (RFC 7838 §3.1).
    ///   - now: The current time.
    package mutating func note(_ field: AlternativeServicesField, of origin: HTTPOrigin, age: Int = 0, at now: Int) {
        guard origin.isSecure else { return }
        guard case .entries(let entries) = field else { return origins[origin] = nil }
        let earlier = origins[origin] ?? []
        let known = entries.compactMap { entry -> Known? in
            let rest = entry.maxAge - max(0, age)
            guard rest > 0 else { return nil }
            var known = Known(service: entry.service, expires: now + rest, persists: entry.persists)
            if let old = earlier.first(where: { $0.service == entry.service }) {
                (known.brokenUntil, known.failureCount) = (old.brokenUntil, old.failureCount)
            }
            return known
        }
        origins[origin] = known.isEmpty ? nil : known
        if origins.count > Self.maximumCount { forget(at: now) }
    }

    /// Removes expired alternatives. If more than ``maximumCount`` origins remain, also removes the origins whose
    /// alternatives expire first: one eighth of ``maximumCount``.
    private mutating func forget(at now: Int) {
        for (origin, known) in origins {
            let fresh = known.filter { $0.expires > now }
            origins[origin] = fresh.isEmpty ? nil : fresh
        }
        guard origins.count > Self.maximumCount else { return }
        let last = origins.mapValues { known in known.map(\.expires).max() ?? 0 }
        for (origin, _) in last.sorted(by: { $0.value < $1.value }).prefix(Self.maximumCount / 8) {
            origins[origin] = nil
        }
    }

    /// Returns an origin's preferred alternative service. It has not expired, its protocol is in `protocols`, and it
    /// has not failed recently. Returns `nil` if there is none: the caller then uses the origin itself. HTTP/2 at the
    /// origin's own host and port does not count as an alternative.
    package func alternative(for origin: HTTPOrigin, protocols: Set<String> = ["h2"], at now: Int)
        -> AlternativeService?
    {
        guard let known = origins[origin] else { return nil }
        return known.first { known in
            known.expires > now && known.brokenUntil <= now && protocols.contains(known.service.protocolName)
                && !(known.service.protocolName == "h2" && known.service.port == origin.port
                    && (known.service.host.isEmpty || known.service.host == origin.host))
        }?.service
    }

    /// Returns all fresh alternatives for an origin, including broken ones and those with an unsupported protocol.
    package func alternatives(for origin: HTTPOrigin, at now: Int) -> [AlternativeService] {
        origins[origin, default: []].filter { $0.expires > now }.map(\.service)
    }

    /// Records that an alternative was unreachable or not authenticated. It is not used for a while (RFC 7838 §2.4).
    package mutating func failed(_ service: AlternativeService, of origin: HTTPOrigin, at now: Int) {
        change(service, of: origin) { known in
            known.brokenUntil = now + Self.pause << min(known.failureCount, Self.maximumDoublings)
            known.failureCount += 1
        }
    }

    /// Records that an alternative service was reached successfully.
    package mutating func succeeded(_ service: AlternativeService, of origin: HTTPOrigin) {
        change(service, of: origin) { known in (known.brokenUntil, known.failureCount) = (0, 0) }
    }

    /// Removes all alternative services for an origin after a response with status 421.
    ///
    /// The status means that an alternative's server is not authoritative for the origin (RFC 7838 §6).
    package mutating func misdirected(_ origin: HTTPOrigin) { origins[origin] = nil }

    /// Removes alternatives that are valid only for the previous network (RFC 7838 §2.2), and resets the failures of
    /// the other alternatives.
    package mutating func networkChanged() {
        for (origin, known) in origins {
            let kept = known.filter(\.persists).map {
                Known(service: $0.service, expires: $0.expires, persists: true)
            }
            origins[origin] = kept.isEmpty ? nil : kept
        }
    }

    private mutating func change(_ service: AlternativeService, of origin: HTTPOrigin, _ body: (inout Known) -> Void) {
        guard let index = origins[origin]?.firstIndex(where: { $0.service == service }) else { return }
        body(&origins[origin]![index])
    }
}
