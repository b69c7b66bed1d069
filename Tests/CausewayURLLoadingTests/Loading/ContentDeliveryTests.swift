import CausewayHTTP
import CausewayWire
import Foundation
import Testing

@testable import CausewayURLLoading

@Suite("Delivery of content")
struct ContentDeliveryTests {
    /// The text "hello" in the gzip format, in a block without compression (RFC 1951 §3.2.4).
    private static let gzip =
        Data([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1, 5, 0, 0xfa, 0xff]) + Data("hello".utf8)
        + Data([0x86, 0xa6, 0x10, 0x36, 5, 0, 0, 0])

    private let load = FakeLoad(challenges: [])

    private var delivery: ContentDelivery { ContentDelivery(load: load) }

    private func response(_ coding: String) -> HTTPURLResponse {
        var fields = FieldSection()
        fields.append("Content-Encoding", coding)
        return HTTPURLResponse(HTTPResponseHead(status: 200, fields: fields), to: load.request)
    }

    /// Returns the decoder that the load uses for its content.
    private func decoder() throws -> DecodedContent {
        let known = load.withState { $0.demandTargets.decoder }
        return try #require(known)
    }

    private func makeParts() throws -> ReplacingParts {
        var fields = FieldSection()
        fields.append("Content-Type", "multipart/x-mixed-replace; boundary=b")
        return try #require(ReplacingParts(HTTPResponseHead(status: 200, fields: fields), for: .delegate))
    }

    @Test("Without demand, content without coding is delivered, and then reading stops")
    func plain() {
        delivery.deliver(Data("a".utf8), to: .task)
        #expect(load.words == ["a"] && load.steps.isEmpty)
        load.wantsBytes = false
        delivery.deliver(Data("b".utf8), to: .task)
        #expect(load.words == ["a", "b"] && load.steps == [.updatedReading])
    }

    @Test("The first content makes the decoder; the load ends after all content is decoded")
    func decoded() throws {
        delivery.deliver(Self.gzip, to: .newDecoder(response("gzip"), nil))
        #expect(load.words == ["hello"] && load.steps == [.updatedReading])
        let decoder = try decoder()
        decoder.end()
        delivery.decode(decoder)
        #expect(load.words == ["hello"] && load.steps == [.updatedReading, .finished])
    }

    @Test("Without demand, content stays encoded until the demand changes")
    func demand() throws {
        load.wantsBytes = false
        delivery.deliver(Self.gzip, to: .newDecoder(response("gzip"), nil))
        let decoder = try decoder()
        #expect(load.words.isEmpty && decoder.hasBacklog && load.steps == [.updatedReading])
        load.wantsBytes = true
        delivery.decode(decoder)
        #expect(load.words == ["hello"] && load.steps == [.updatedReading, .updatedReading])
    }

    @Test("Malformed content fails the load; a response without coding needs no decoder")
    func codings() {
        delivery.deliver(Data("not gzip, not gzip".utf8), to: .newDecoder(response("gzip"), nil))
        // Some decompression libraries notice the error late, when the content ends. So end the content.
        if let decoder = load.withState({ $0.demandTargets.decoder }) {
            decoder.end()
            delivery.decode(decoder)
        }
        #expect(load.words.isEmpty && load.steps.last == .failed(.encodingBroken))
        let other = FakeLoad(challenges: [])
        ContentDelivery(load: other).deliver(Data("a".utf8), to: .newDecoder(response("identity"), nil))
        #expect(other.words == ["a"] && other.steps.isEmpty)
    }

    @Test("Each part of replacing content begins with a response, also if the content is encoded")
    func parts() throws {
        let content = Data("--b\r\nA: 1\r\n\r\none\r\n--b\r\nA: 2\r\n\r\ntwo\r\n--b--\r\n".utf8)
        delivery.deliver(content, to: .parts(try makeParts()))
        #expect(load.words == ["response 200", "one", "response 200", "two"] && load.steps.isEmpty)
        let encoded = FakeLoad(challenges: [])
        ContentDelivery(load: encoded).deliver(Self.gzip, to: .newDecoder(response("gzip"), try makeParts()))
        // This content comes before the first part, and the decoder drops such text. So nothing is delivered.
        #expect(encoded.words.isEmpty && encoded.steps == [.updatedReading])
    }

    @Test("Malformed parts fail the load")
    func malformedParts() throws {
        delivery.deliver(Data("--bx\r\n".utf8), to: .parts(try makeParts()))
        #expect(load.words.isEmpty && load.steps == [.failed(.unreadableResponse)])
    }
}
