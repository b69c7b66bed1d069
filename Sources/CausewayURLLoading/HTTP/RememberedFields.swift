internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayWire

/// Caches the latest result of a function that completes header fields, for example with cookies. Programs often repeat
/// a request, and a comparison costs less than copying and changing the fields.
///
/// A result is used again only if the original fields and the added value are the same, so that no request receives
/// values of another request.
struct RememberedFields<Addition: Equatable & Sendable>: Sendable {
    /// The cached result, and the values from which it was made. This is a class, so that a lookup does not copy the
    /// values.
    private final class Last: Sendable {
        let fields: FieldSection
        let addition: Addition
        let result: FieldSection

        init(_ fields: FieldSection, _ addition: Addition, _ result: FieldSection) {
            self.fields = fields
            self.addition = addition
            self.result = result
        }
    }

    private var last: Last?

    /// Returns the cached result if neither the fields nor the addition have changed; otherwise `nil`.
    func result(for fields: FieldSection, _ addition: Addition) -> FieldSection? {
        guard let last, last.fields.isIdentical(to: fields), last.addition == addition else { return nil }
        return last.result
    }

    /// Caches a result, unless it is longer than ``RequestTarget/maximumRemembered``.
    mutating func keep(_ result: FieldSection, for fields: FieldSection, _ addition: Addition) {
        guard result.byteCount <= RequestTarget.maximumRemembered else { return }
        last = Last(fields, addition, result)
    }
}

extension LockedValue {
    /// Returns the cached result. If there is none, computes it and stores it in the cache.
    func result<Addition>(
        for fields: FieldSection, _ addition: Addition, _ make: () -> FieldSection
    ) -> FieldSection where Value == RememberedFields<Addition> {
        if let known = withLock({ $0.result(for: fields, addition) }) { return known }
        let made = make()
        withLock { $0.keep(made, for: fields, addition) }
        return made
    }
}
