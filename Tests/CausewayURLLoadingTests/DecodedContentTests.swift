import CausewayHTTP
import CausewayHTTPProtocols
import Foundation
import Testing

@testable import CausewayURLLoading

@Suite("Decoded content")
struct DecodedContentTests {
    /// "hello" as gzip content, in an uncompressed block (RFC 1951 §3.2.4).
    private static let gzip =
        Data([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1, 5, 0, 0xfa, 0xff]) + Data("hello".utf8)
        + Data([0x86, 0xa6, 0x10, 0x36, 5, 0, 0, 0])

    private func makeContent() throws -> DecodedContent { DecodedContent(try ContentDecoder([.gzip])) }

    @Test("Content that arrives while a piece is delivered is decoded by the call that runs")
    func reentrance() throws {
        let content = try makeContent()
        var text = ""
        content.append(Self.gzip.prefix(17))
        let progress = try content.pump(while: { true }) { piece in
            text += String(decoding: piece, as: UTF8.self)
            guard text == "he" else { return }
            content.append(Self.gzip.dropFirst(17))
            content.end()
            let inner = try? content.pump(while: { true }) { _ in Issue.record("two calls deliver at once") }
            #expect(inner == .waiting)
        }
        #expect(text == "hello" && progress == .finished)
    }

    @Test("The end is reported once, after all content")
    func end() throws {
        let content = try makeContent()
        var text = ""
        func pump() throws -> DecodedContent.Progress {
            try content.pump(while: { true }) { text += String(decoding: $0, as: UTF8.self) }
        }
        content.append(Self.gzip)
        #expect(try pump() == .waiting)
        #expect(text == "hello")
        content.end()
        #expect(try pump() == .finished)
        #expect(try pump() == .waiting)
        #expect(text == "hello")
    }

    @Test("Without demand, content stays encoded")
    func demand() throws {
        let content = try makeContent()
        content.append(Self.gzip)
        content.end()
        let progress = try content.pump(while: { false }) { _ in Issue.record("no content is wanted") }
        #expect(progress == .waiting && content.hasBacklog)
    }

    @Test("Bytes count when they are delivered, after decoding")
    func count() throws {
        let content = try makeContent()
        content.append(Self.gzip)
        _ = try content.pump(while: { false }) { _ in }
        #expect(content.deliveredCount == 0)
        _ = try content.pump(while: { true }) { _ in }
        #expect(content.deliveredCount == 5)
    }

    @Test("After malformed content nothing more is delivered")
    func malformed() throws {
        let content = try makeContent()
        content.append(Data("not gzip, not gzip".utf8))
        content.end()
        #expect(throws: DecodingFailure.self) { try content.pump(while: { true }) { _ in } }
        #expect(try content.pump(while: { true }) { _ in } == .waiting)
    }
}
