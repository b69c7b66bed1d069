import Testing

@testable import MultipeerConnectivity

@Suite("Service types and discovery info")
struct ServiceTypeTests {
    @Test(
        "Valid types, with capitals as in published programs (RFC 6335 §5.1)",
        arguments: ["a", "abc-chat", "MKSVC", "MPCF-Speed-Test", "a1", "1a", "fifteen-letters"])
    func valid(type: String) { #expect(ServiceType.problem(with: type) == nil) }

    @Test(
        "Invalid types have a reason",
        arguments: [
            "", "sixteen-letters-", "-chat", "chat-", "a--b", "123", "1-2", "chat_1", "_chat", "chät", "a b", "a.b",
        ])
    func invalid(type: String) { #expect(ServiceType.problem(with: type) != nil) }

    @Test("A pair has at most 255 bytes, keys are printable ASCII without '=' and not reserved (RFC 6763 §6)")
    func info() {
        #expect(ServiceType.problem(withInfo: [:]) == nil)
        #expect(ServiceType.problem(withInfo: ["room": "größer", "empty": ""]) == nil)
        #expect(ServiceType.problem(withInfo: ["k": String(repeating: "v", count: 253)]) == nil)
        #expect(ServiceType.problem(withInfo: ["k": String(repeating: "v", count: 254)]) != nil)
        for key in ["", "a=b", "ä", "a\n", "_cw", "_ID", "_k", "_n"] {
            #expect(ServiceType.problem(withInfo: [key: "v"]) != nil, "\(key)")
        }
        let many = Dictionary(uniqueKeysWithValues: (0..<40).map { ("k\($0)", String(repeating: "v", count: 200)) })
        #expect(ServiceType.problem(withInfo: many) != nil)
    }
}
