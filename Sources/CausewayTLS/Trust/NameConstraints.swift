/// The names that an authority may sign (RFC 5280 §4.2.1.10).
struct NameConstraints: Sendable {
    private struct Subtrees: Sendable {
        var permitted: [NameSubtree] = []
        var excluded: [NameSubtree] = []
    }

    /// By the kind of name: names of different kinds are never compared.
    private let subtrees: [UInt8: Subtrees]

    /// - Parameter content: What is inside the SEQUENCE.
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
        guard !subtrees.isEmpty else { throw DERError("the constraints on names are empty") }
        self.subtrees = subtrees
    }

    private static func read(_ content: ArraySlice<UInt8>, _ add: (UInt8, NameSubtree) -> Void) throws(DERError) {
        guard !content.isEmpty else { throw DERError("a constraint on names is empty") }
        try DERReader.all(content) { reader throws(DERError) in
            var tree = DERReader(try reader.next(DERTag.sequence))
            let base = try GeneralName(try tree.next())
            // The profile has no depths: what says one is not what this authority may sign.
            try tree.end()
            add(base.kind, try NameSubtree(base))
        }
    }

    /// Bytes that one judgement may compare, in all chains that it tries. Two milliseconds.
    static let maximumWork = 2_000_000
    /// What a comparison costs besides its bytes, in bytes.
    private static let comparisonCost = 16

    /// Why these names may not be signed; `nil` if they may.
    ///
    /// - Parameter work: The rest of ``maximumWork``.
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
