/// The names for which an authority may issue certificates (RFC 5280 §4.2.1.10).
struct NameConstraints: Sendable {
    private struct Subtrees: Sendable {
        var permitted: [NameSubtree] = []
        var excluded: [NameSubtree] = []
    }

    /// The permitted and excluded subtrees for each name type. Names of different types are never compared.
    private let subtrees: [UInt8: Subtrees]

    /// Parses the extension.
    ///
    /// - Parameter content: The content of the outer SEQUENCE.
    init(_ content: ArraySlice<UInt8>) throws(DERError) {
        var reader = DERReader(content)
        var subtrees: [UInt8: Subtrees] = [:]
        if let trees = try reader.optional(0xa0) {
            try Self.read(trees) { kind, tree in subtrees[kind, default: Subtrees()].permitted.append(tree) }
        }
        if let trees = try reader.optional(0xa1) {
            try Self.read(trees) { kind, tree in subtrees[kind, default: Subtrees()].excluded.append(tree) }
        }
        try reader.end()
        guard !subtrees.isEmpty else { throw DERError("empty name constraints") }
        self.subtrees = subtrees
    }

    private static func read(_ content: ArraySlice<UInt8>, _ add: (UInt8, NameSubtree) -> Void) throws(DERError) {
        guard !content.isEmpty else { throw DERError("empty name constraint") }
        try DERReader.all(content) { reader throws(DERError) in
            var tree = DERReader(try reader.next(DERTag.sequence))
            let base = try GeneralName(try tree.next())
            // RFC 5280 permits no minimum or maximum depth here. If the subtree has such a field, reject it.
            try tree.end()
            add(base.kind, try NameSubtree(base))
        }
    }

    /// The maximum number of bytes to compare while validating one peer, for all chains together. This takes about two milliseconds.
    static let maximumWork = 2_000_000
    /// The fixed cost of each comparison. It counts as this number of compared bytes.
    private static let comparisonCost = 16

    /// Returns the reason why the authority must not sign these names, or `nil`.
    ///
    /// - Parameters:
    ///   - names: The certificate's names.
    ///   - work: The remaining bytes that may be compared, initially ``maximumWork``.
    func objection(to names: [ComparableName], work: inout Int) -> Objection? {
        for name in names {
            guard let own = subtrees[name.name.kind] else { continue }
            for tree in own.excluded {
                guard Self.spend(name, tree, &work) else { return .tooMany }
                if tree.excludes(name) { return .notAllowed(name.name) }
            }
            var isPermitted = own.permitted.isEmpty
            for tree in own.permitted where !isPermitted {
                guard Self.spend(name, tree, &work) else { return .tooMany }
                isPermitted = tree.permits(name)
            }
            if !isPermitted { return .notAllowed(name.name) }
        }
        return nil
    }

    private static func spend(_ name: ComparableName, _ tree: NameSubtree, _ work: inout Int) -> Bool {
        work -= comparisonCost + min(name.byteCount, tree.byteCount)
        return work >= 0
    }

    enum Objection {
        case notAllowed(GeneralName)
        case tooMany
    }
}
