import Testing

@testable import CausewayWire

@Suite("WebSocket: the negotiation of permessage-deflate (RFC 7692 §7.1)")
struct MessageDeflateTests {
    @Test(
        "Valid elements, and their written form",
        arguments: [
            "permessage-deflate", "permessage-deflate; client_max_window_bits",
            "permessage-deflate; server_no_context_takeover; client_no_context_takeover",
            "permessage-deflate; server_max_window_bits=10; client_max_window_bits=15",
        ])
    func roundTrip(_ text: String) { #expect(MessageDeflate(parsing: text)?.serialized == text) }

    @Test("Quoted values, spaces and another case of the name")
    func lenient() {
        let parsed = MessageDeflate(parsing: " PerMessage-Deflate ;\tserver_max_window_bits = \"9\"")
        #expect(parsed?.serverWindow == .bits(9))
    }

    @Test(
        "Invalid elements",
        arguments: [
            "", "x-webkit-deflate-frame", "permessage-deflate; unknown", "permessage-deflate;",
            "permessage-deflate; server_max_window_bits", "permessage-deflate; server_max_window_bits=7",
            "permessage-deflate; client_max_window_bits=16", "permessage-deflate; client_max_window_bits=08",
            "permessage-deflate; server_no_context_takeover=1",
            "permessage-deflate; client_max_window_bits; client_max_window_bits=9",
            "permessage-deflate\u{37E} client_max_window_bits", "permessage-deflate;\u{301}client_max_window_bits",
        ])
    func invalid(_ text: String) { #expect(MessageDeflate(parsing: text) == nil) }

    @Test("A server answers the first offer that it accepts")
    func answers() {
        func answer(_ offers: [String], _ own: String = MessageDeflate.name) -> String? {
            MessageDeflate.answer(
                to: MessageDeflate.offers(in: offers), own: MessageDeflate(parsing: own) ?? MessageDeflate())?
                .serialized
        }
        let name = MessageDeflate.name
        #expect(answer([]) == nil)
        #expect(answer(["\(name); x=1", "other"]) == nil)
        #expect(answer(["\(name); server_max_window_bits=8"]) == "\(name); server_max_window_bits=8")
        #expect(answer([name], "\(name); server_max_window_bits=9") == "\(name); server_max_window_bits=9")
        #expect(answer(["\(name); server_no_context_takeover"]) == "\(name); server_no_context_takeover")
        #expect(answer([name], "\(name); client_no_context_takeover") == "\(name); client_no_context_takeover")
        #expect(answer(["\(name); x=1", name]) == name)
        #expect(
            answer(["\(name); client_max_window_bits"], "\(name); client_max_window_bits=9")
                == "\(name); client_max_window_bits=9")
        #expect(answer([name], "\(name); client_max_window_bits=9") == name)
        #expect(
            answer(["\(name); server_max_window_bits=12"], "\(name); server_max_window_bits=10")
                == "\(name); server_max_window_bits=10")
    }

    // This test checks RFC 6455 §9.1.
    @Test("A client checks the answer against its offer")
    func checks() throws {
        func isValid(_ answer: String, _ offer: String) throws -> Bool {
            let (name, answered) = (
                MessageDeflate.name, try #require(MessageDeflate(parsing: MessageDeflate.name + answer))
            )
            return answered.isValidAnswer(to: try #require(MessageDeflate(parsing: name + offer)))
        }
        #expect(try isValid("", "; client_max_window_bits"))
        #expect(try isValid("; client_max_window_bits=9", "; client_max_window_bits"))
        #expect(try isValid("; server_max_window_bits=9", ""))
        #expect(try !isValid("; client_max_window_bits=9", ""))
        #expect(try !isValid("; client_max_window_bits", "; client_max_window_bits"))
        #expect(try !isValid("; client_max_window_bits=12", "; client_max_window_bits=10"))
        #expect(try !isValid("", "; server_no_context_takeover"))
        #expect(try !isValid("; server_max_window_bits=12", "; server_max_window_bits=10"))
        #expect(try !isValid("", "; server_max_window_bits=10"))
    }

    private static let key = "dGhlIHNhbXBsZSBub25jZQ=="

    @Test("Offers in a request head")
    func request() throws {
        var request = UpgradeRequest(authority: "h", key: Self.key)
        let offers = ["permessage-deflate; server_max_window_bits=10", "permessage-deflate; client_max_window_bits"]
        request.deflateOffers = MessageDeflate.offers(in: offers)
        let head = try request.serialized()
        #expect(
            String(decoding: head, as: UTF8.self).contains("Sec-WebSocket-Extensions: \(offers[0]), \(offers[1])\r\n"))
        #expect(try UpgradeRequest(parsing: head).deflateOffers == request.deflateOffers)
    }

    @Test(
        "Answers in a response head",
        arguments: [
            ("permessage-deflate", true, true), ("permessage-deflate", false, false), ("", true, true),
            ("permessage-deflate; x", true, false), ("other", true, false), ("permessage-deflate, other", true, false),
            ("permessage-deflate, permessage-deflate", true, false),
            ("permessage-deflate; client_max_window_bits=9", true, false),
        ])
    func response(_ field: String, _ isOffered: Bool, _ isValid: Bool) throws {
        var request = UpgradeRequest(authority: "h", key: Self.key)
        if isOffered { request.deflateOffers = [MessageDeflate()] }
        var text = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        text += "Sec-WebSocket-Accept: \(WebSocketAccept.value(for: Self.key))\r\n"
        if !field.isEmpty { text += "Sec-WebSocket-Extensions: \(field)\r\n" }
        let response = try? UpgradeResponse(parsing: Array((text + "\r\n").utf8), for: request)
        #expect((response != nil) == isValid)
        #expect(response?.deflate == (isValid && !field.isEmpty ? MessageDeflate() : nil))
    }
}
