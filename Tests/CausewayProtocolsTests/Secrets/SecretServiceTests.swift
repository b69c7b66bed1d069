import CausewayTestKit
import CausewayWire
import Testing

@testable import CausewayProtocols

/// A request to a scripted session message bus. The bus offers a Secret Service.
private struct SecretBus {
    /// For each method name, the answer of the Secret Service. `nil` means that the service returns an error.
    var answers: [String: [DBusValue]?] = [
        "Hello": [.string(":1.9")], "GetNameOwner": [.string(":1.4")],
        "OpenSession": [.variant(.string("")), .objectPath("/session/1")],
        "SearchItems": [.array(.objectPath, [.objectPath("/item/1")]), .array(.objectPath, [])],
        "GetSecrets": [
            .array(
                .entry(key: .objectPath, value: .structure([.objectPath, .array(.byte), .array(.byte), .string])),
                [
                    .entry(
                        key: .objectPath("/item/1"),
                        value: .structure([.objectPath("/session/1"), .bytes([]), .bytes([1, 2, 3]), .string("")]))
                ])
        ],
        "ReadAlias": [.objectPath("/keyring")], "Get": [.variant(.boolean(false))],
        "CreateItem": [.objectPath("/item/1"), .objectPath("/")],
    ]
    /// The sender name of an impostor that answers in place of the service; `nil` if the service itself answers.
    var impostor: String?
    private(set) var calls: [DBusMessage] = []

    mutating func run(_ operation: SecretServiceRequest.Operation, pieces: Int = .max) -> SecretServiceRequest.Outcome?
    {
        var request = SecretServiceRequest(operation, application: "app", label: "Label", user: 7)
        guard request.outcome == nil else { return request.outcome }
        _ = request.takeOutput()
        request.receive(Array("OK 0123456789abcdef\r\n".utf8))
        var heard = Array(request.takeOutput().dropFirst("BEGIN\r\n".utf8.count))
        while let count = (try? DBusMessage.byteCount(of: heard.span)) ?? nil, count <= heard.count,
            let call = try? DBusMessage(parsing: heard.span.extracting(..<count))
        {
            heard.removeFirst(count)
            calls.append(call)
            var rest = answer(to: call)[...]
            while !rest.isEmpty {
                request.receive(Array(rest.prefix(pieces)))
                rest = rest.dropFirst(pieces)
            }
            heard += request.takeOutput()
        }
        return request.outcome
    }

    private func answer(to call: DBusMessage) -> [UInt8] {
        let body = answers[call.member ?? ""] ?? nil
        var message = DBusMessage(body == nil ? .error : .answer, serial: 1)
        message.replySerial = call.serial
        message.sender = call.destination == "org.freedesktop.DBus" ? call.destination : impostor ?? call.destination
        if let body { message.body = body } else { message.errorName = "org.example.No" }
        return message.encoded
    }
}

@Suite("Requests to the Secret Service")
struct SecretServiceTests {
    @Test("The secret of an unlocked item is read, in pieces of any size", arguments: [1, 7, Int.max])
    func read(pieces: Int) throws {
        var bus = SecretBus()
        #expect(bus.run(.read, pieces: pieces) == .secret([1, 2, 3]))
        #expect(bus.calls.map(\.member) == ["Hello", "GetNameOwner", "OpenSession", "SearchItems", "GetSecrets"])
        #expect(bus.calls.dropFirst(2).allSatisfy { $0.destination == ":1.4" && $0.flags == DBusMessage.noAutoStart })
        #expect(bus.calls[3].body[0].dictionary["application"]?.text == "app")
    }

    @Test("A secret is written to the default keyring, in place of the old one")
    func write() throws {
        var bus = SecretBus()
        #expect(bus.run(.write([9, 8])) == .written)
        let call = try #require(bus.calls.last)
        #expect(call.member == "CreateItem" && call.path == "/keyring")
        #expect(call.body[0].dictionary["org.freedesktop.Secret.Item.Label"]?.text == "Label")
        #expect(call.body[1].fields[2] == .bytes([9, 8]) && call.body[2] == .boolean(true))
    }

    @Test("Without an item there is no secret")
    func missing() {
        var bus = SecretBus()
        bus.answers["SearchItems"] = [.array(.objectPath, []), .array(.objectPath, [])]
        #expect(bus.run(.read) == .secret(nil))
    }

    private static let none = DBusValue.array(.objectPath, [])

    @Test(
        "What is locked, missing, malformed or needs the user is unavailable, with the reason",
        arguments: [
            ("GetNameOwner", nil, "no Secret Service runs"),
            ("OpenSession", nil, "the Secret Service answered with org.example.No"),
            ("SearchItems", [none, .array(.objectPath, [.objectPath("/item/1")])], "the keyring is locked"),
            ("SearchItems", [none], "malformed answer of the Secret Service"),
            ("GetSecrets", [none], "malformed answer of the Secret Service"),
            ("GetNameOwner", [.string("name")], "malformed answer of the Secret Service"),
        ] as [(String, [DBusValue]?, String)])
    func unreadable(_ member: String, _ body: [DBusValue]?, _ reason: String) {
        var bus = SecretBus()
        bus.answers[member] = .some(body)
        #expect(bus.run(.read) == .unavailable(reason))
    }

    @Test(
        "A keyring that is locked, missing or asks the user gets no secret",
        arguments: [
            ("Get", [.variant(.boolean(true))], "the keyring is locked"),
            ("ReadAlias", [.objectPath("/")], "there is no default keyring"),
            ("CreateItem", [.objectPath("/"), .objectPath("/prompt/1")], "the keyring asks for a password"),
            ("Get", [.boolean(true)], "malformed answer of the Secret Service"),
        ] as [(String, [DBusValue], String)])
    func unwritable(_ member: String, _ body: [DBusValue], _ reason: String) {
        var bus = SecretBus()
        bus.answers[member] = body
        #expect(bus.run(.write([1])) == .unavailable(reason))
    }

    @Test("Another program that answers in place of the service is ignored")
    func impostor() {
        var bus = SecretBus()
        bus.impostor = ":1.66"
        #expect(bus.run(.read) == nil)
    }

    @Test("More bytes than a message of the bus can hold are refused")
    func tooLarge() {
        var bus = SecretBus()
        let secret = [UInt8](repeating: 0, count: SecretServiceRequest.secretLimit + 1)
        #expect(bus.run(.write(secret)) == .unavailable("more than 524288 bytes of credentials"))
    }

    @Test("Arbitrary bytes end a request as unavailable or are ignored, and cause no further calls")
    func arbitrary() {
        var endedCount = 0
        for seed in 0..<500 as Range<UInt64> {
            var random = SplitMix64(seed: seed)
            var request = SecretServiceRequest(.read, application: "", label: "", user: 0)
            request.receive(Array("OK 0\r\n".utf8))
            _ = request.takeOutput()
            for _ in 0..<20 { request.receive(random.bytes(random.integer(in: 0...60))) }
            #expect(request.takeOutput().isEmpty, "seed \(seed)")
            guard let outcome = request.outcome else { continue }
            endedCount += 1
            guard case .unavailable(let reason) = outcome else {
                Issue.record("seed \(seed): \(outcome)")
                continue
            }
            #expect(reason.hasPrefix("malformed"), "seed \(seed)")
        }
        // Random bytes are not a valid message, so each conversation must end.
        #expect(endedCount == 500)
    }
}
