import Testing

@testable import CausewayTLS

@Suite("Name constraints")
struct NameConstraintsTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var permitted: [GeneralName] = []
        var excluded: [GeneralName] = []
        let name: GeneralName
        let isAllowed: Bool

        var testDescription: String { "\(name), permitted \(permitted), excluded \(excluded): \(isAllowed)" }
    }

    private static func permitted(_ base: GeneralName, _ name: GeneralName, _ isAllowed: Bool) -> Row {
        Row(permitted: [base], name: name, isAllowed: isAllowed)
    }

    private static func excluded(_ base: GeneralName, _ name: GeneralName, _ isAllowed: Bool) -> Row {
        Row(excluded: [base], name: name, isAllowed: isAllowed)
    }

    private static let network: [UInt8] = [10, 1, 0, 0, 255, 255, 0, 0]
    private static let network6: [UInt8] = [0x20, 1, 0x0d, 0xb8] + zeros(12) + [255, 255, 255, 255] + zeros(12)
    private static func zeros(_ count: Int) -> [UInt8] { Array(repeating: 0, count: count) }

    static let names = [
        permitted(.dns("a.test"), .dns("a.test"), true), permitted(.dns("a.test"), .dns("x.y.a.test"), true),
        permitted(.dns("a.test"), .dns("A.TEST"), true), permitted(.dns("A.test"), .dns("x.a.test"), true),
        permitted(.dns("a.test"), .dns("ba.test"), false), permitted(.dns("a.test"), .dns("test"), false),
        permitted(.dns(""), .dns("a.test"), true), permitted(.dns("a.test"), .dns("*.a.test"), true),
        permitted(.dns("x.a.test"), .dns("*.a.test"), false), permitted(.dns("a.test"), .dns("a.test."), false),
        permitted(.dns("a.test"), .dns("x\0.a.test"), false), permitted(.dns("a.test"), .dns(""), false),
        permitted(.dns("a.test"), .address([127, 0, 0, 1]), true),
        excluded(.dns("a.test"), .dns("a.test"), false), excluded(.dns("a.test"), .dns("x.a.test"), false),
        excluded(.dns("a.test"), .dns("ba.test"), true), excluded(.dns("x.a.test"), .dns("a.test"), true),
        // If a wildcard covers an excluded name, the wildcard itself is excluded.
        excluded(.dns("x.a.test"), .dns("*.a.test"), false), excluded(.dns("x.y.a.test"), .dns("*.a.test"), true),
        excluded(.dns("a.test"), .dns("*.a.test"), false),
        excluded(.dns(""), .dns("a.test"), false), excluded(.dns("a.test"), .dns("b..test"), false),
        Row(permitted: [.dns("a.test")], excluded: [.dns("x.a.test")], name: .dns("y.a.test"), isAllowed: true),
        Row(permitted: [.dns("a.test")], excluded: [.dns("x.a.test")], name: .dns("x.a.test"), isAllowed: false),
        Row(permitted: [.dns("a.test"), .dns("b.test")], name: .dns("b.test"), isAllowed: true),
    ]

    static let others = [
        permitted(.address(network), .address([10, 1, 2, 3]), true),
        permitted(.address(network), .address([10, 2, 2, 3]), false),
        permitted(.address(network), .address([0x20, 1, 0x0d, 0xb8] + zeros(12)), false),
        permitted(.address(network6), .address([0x20, 1, 0x0d, 0xb8] + zeros(11) + [1]), true),
        permitted(.address(network), .address([10, 1, 2]), false), permitted(.address(network), .dns("a.test"), true),
        excluded(.address(network), .address([10, 1, 9, 9]), false),
        excluded(.address(network), .address([10, 2, 9, 9]), true),
        excluded(.address(network), .address([10, 1]), false),
        permitted(.mail("a.test"), .mail("x@a.test"), true), permitted(.mail("a.test"), .mail("x@b.a.test"), false),
        permitted(.mail(".a.test"), .mail("x@b.a.test"), true), permitted(.mail("x@a.test"), .mail("x@A.test"), true),
        permitted(.mail("x@a.test"), .mail("y@a.test"), false), permitted(.mail("a.test"), .mail("local-part"), false),
        excluded(.mail("a.test"), .mail("x@a.test"), false), excluded(.mail("a.test"), .mail("x@b.test"), true),
        permitted(.uri("a.test"), .uri("https://a.test/x"), true),
        permitted(.uri("a.test"), .uri("https://u@a.test:8/x"), true),
        permitted(.uri("a.test"), .uri("https://b.a.test/"), false),
        permitted(.uri(".a.test"), .uri("https://b.a.test?a"), true),
        permitted(.uri("a.test"), .uri("https://10.0.0.1/"), false), permitted(.uri("a.test"), .uri("urn:x"), false),
        permitted(.uri("a.test"), .uri("https://[::1]/"), false), excluded(.uri("a.test"), .uri("urn:x"), false),
        excluded(.uri("a.test"), .uri("https://a.test@b.test/"), true),
        // Name types that the library does not compare. A constraint for such a type permits no name of that type.
        permitted(.other(0), .other(0), false), excluded(.other(8), .other(8), false),
        permitted(.other(0), .dns("a.test"), true),
    ]

    // RFC 5280 §4.2.1.10.
    @Test("Host names", arguments: names)
    func hosts(_ row: Row) throws { try check(row) }

    @Test("Names of other kinds", arguments: others)
    func kinds(_ row: Row) throws { try check(row) }

    private func check(_ row: Row) throws {
        func trees(_ tag: UInt8, _ names: [GeneralName]) -> [UInt8] {
            names.isEmpty ? [] : DERWriter.value(tag, names.flatMap { DERWriter.sequence(Self.encoded($0)) })
        }
        let constraints = try NameConstraints((trees(0xa0, row.permitted) + trees(0xa1, row.excluded))[...])
        var work = 10_000
        let objection = constraints.objection(to: [ComparableName(row.name)], work: &work)
        #expect((objection == nil) == row.isAllowed)
    }

    private static func encoded(_ name: GeneralName) -> [UInt8] {
        switch name {
        case .mail(let text): DERWriter.value(0x81, Array(text.utf8))
        case .dns(let text): DERWriter.value(0x82, Array(text.utf8))
        case .uri(let text): DERWriter.value(0x86, Array(text.utf8))
        case .address(let bytes): DERWriter.value(0x87, bytes)
        case .directory: []
        case .other(let number): DERWriter.value(number == 8 ? 0x88 : 0xa0 | number, [])
        }
    }

    // RFC 5280 §7.1.
    @Test("Subjects, without regard to case and extra spaces")
    func subjects() throws {
        func name(_ parts: (UInt32, String)...) throws -> DistinguishedName {
            let content = parts.flatMap { kind, text in
                DERWriter.set(DERWriter.sequence(DERWriter.identifier(2, 5, 4, kind), DERWriter.text(text)))
            }
            return try DistinguishedName(content[...])
        }
        func isAllowed(_ name: DistinguishedName, _ base: [UInt8]) throws -> Bool {
            let tree = DERWriter.value(0xa0, DERWriter.sequence(DERWriter.value(0xa4, base)))
            var work = 10_000
            return try NameConstraints(tree[...]).objection(to: [ComparableName(.directory(name))], work: &work) == nil
        }
        let base = DERWriter.sequence(
            DERWriter.set(DERWriter.sequence(DERWriter.identifier(2, 5, 4, 10), DERWriter.text("The  Example "))))
        #expect(try isAllowed(name((10, "the example"), (3, "x")), base))
        #expect(try isAllowed(name((10, "THE EXAMPLE")), base))
        #expect(try !isAllowed(name((3, "x"), (10, "the example")), base))
        #expect(try !isAllowed(name((11, "the example")), base))
        #expect(try isAllowed(name((3, "x")), DERWriter.sequence()))
        #expect(try name((3, "a b")) == name((3, " A   b")))
        #expect(try name((3, "ab")) != name((3, "a b")))
    }

    @Test(
        "Constraints that cannot be checked are refused",
        arguments: [
            [], [0xa0, 0], [0xa0, 2, 0x30, 0], [0xa0, 6, 0x30, 4, 0x82, 2, 0x61, 0x62, 0],
            // These constraints have a subtree with a minimum depth, an address mask with a gap, and a mask of the
            // wrong length.
            DERWriter.value(0xa0, DERWriter.sequence(DERWriter.value(0x82, [0x61]), DERWriter.value(0x80, [1]))),
            DERWriter.value(0xa0, DERWriter.sequence(DERWriter.value(0x87, [10, 0, 0, 0, 255, 0, 255, 0]))),
            DERWriter.value(0xa0, DERWriter.sequence(DERWriter.value(0x87, [10, 0, 0, 0]))),
            // This DNS name has a leading dot, so it is malformed. Only email and URI constraints may start with a dot.
            DERWriter.value(0xa0, DERWriter.sequence(DERWriter.value(0x82, Array(".a.test".utf8)))),
            DERWriter.value(0xa1, DERWriter.sequence(DERWriter.value(0x82, Array(".a.test".utf8)))),
        ] as [[UInt8]])
    func malformed(_ content: [UInt8]) {
        #expect(throws: DERError.self) { try NameConstraints(content[...]) }
    }

    @Test("The bytes that comparisons read are counted, and names of other kinds cost nothing")
    func budget() throws {
        func constraints(_ base: [UInt8]) throws -> NameConstraints {
            try NameConstraints(DERWriter.value(0xa1, DERWriter.sequence(DERWriter.value(0x82, base)))[...])
        }
        let short = try constraints(Array("a.test".utf8))
        let long = try constraints(Array(repeating: UInt8(ascii: "a"), count: 1_000))
        let names = Array(repeating: ComparableName(.dns("b.test")), count: 60)
        let longNames = [ComparableName(.dns(String(repeating: "b.", count: 500) + "test"))]
        var work = 2_000
        #expect(short.objection(to: names, work: &work) == nil && work == 2_000 - 60 * (16 + 6))
        #expect(short.objection(to: [ComparableName(.mail("x@a.test"))], work: &work) == nil && work == 680)
        guard case .tooMany = short.objection(to: names, work: &work) else {
            Issue.record("the second round was counted")
            return
        }
        work = 1_015
        guard case .tooMany = long.objection(to: longNames, work: &work) else {
            Issue.record("a long comparison cost as little as a short one")
            return
        }
    }

    @Test("A chain with 95 KB of names and constraints is refused for its cost")
    func costlyChain() throws {
        let names = (0..<1_500).map { SubjectAlternativeName.name("host-\($0).a-rather-long-name.example.test") }
        let authority = Authority("Narrow", by: .shared) {
            $0.permittedNames = (0..<1_400).map { "other-\($0).example.test" }
        }
        let chain = try authority.issue(names).certificates
        let trust = PeerTrust(
            certificates: chain, role: .server, reference: ReferenceName("server.test"), settings: .anchored(.shared))
        let failure = #expect(throws: TrustFailure.self) { _ = try trust.evaluate() }
        // The chain fails because its first name violates the constraints. The check needs 1,400 comparisons to find
        // this.
        #expect(failure?.rule == .nameConstraint)
        let last = Authority("Narrow", by: .shared) {
            $0.permittedNames = (0..<1_400).map { "other-\($0).example.test" } + ["example.test"]
        }
        let costly = PeerTrust(
            certificates: try last.issue(names).certificates, role: .server, reference: ReferenceName("server.test"),
            settings: .anchored(.shared))
        let refusal = #expect(throws: TrustFailure.self) { _ = try costly.evaluate() }
        #expect(refusal?.rule == .tooComplex)
    }
}
