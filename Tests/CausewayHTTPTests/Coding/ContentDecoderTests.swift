import CausewayExercises
import CausewayHTTPProtocols
import CausewayTestKit
import CausewayWire
import FoundationEssentials
import Testing

@testable import CausewayHTTP

@Suite("Content decoding")
struct ContentDecoderTests {
    /// Decodes the input pieces. Takes at most `limit` bytes of output at a time.
    private func decode(
        _ pieces: [ArraySlice<UInt8>], _ codings: [ContentCoding], budget: DecodingBudget = DecodingBudget(),
        limit: Int = ContentDecoder.pieceLimit
    ) throws(DecodingFailure) -> [UInt8] {
        let decoder = try ContentDecoder(codings, budget: budget)
        var output: [UInt8] = []
        for piece in pieces + [[]] {
            if piece.isEmpty { decoder.end() }
            decoder.append(Data(piece))
            while let content = try decoder.next(atMost: limit) {
                #expect(!content.isEmpty && content.count <= limit)
                output += content
            }
        }
        return output
    }

    private func failure(_ body: () throws(DecodingFailure) -> Void) -> DecodingFailure? {
        do throws(DecodingFailure) { try body() } catch { return error }
        return nil
    }

    // RFC 9110 §8.4.1.2, §8.4.1.3.
    @Test("Every form of every coding is decoded", arguments: CodingVectors.all)
    func vectors(_ vector: CodingVectors.Vector) throws {
        let encoded = vector.encoded[...]
        let expected = Array(vector.content.utf8)
        try #require(!encoded.isEmpty && !vector.codings.isEmpty)
        #expect(try decode([encoded], vector.codings) == expected)
        #expect(try decode([encoded], vector.codings, limit: 1) == expected)
    }

    @Test("The split of the input does not change the content", arguments: CodingVectors.all)
    func splits(_ vector: CodingVectors.Vector) throws {
        let encoded = vector.encoded[...]
        let expected = Array(vector.content.utf8)
        for index in encoded.indices.dropFirst() {
            #expect(
                try decode([encoded[..<index], encoded[index...]], vector.codings) == expected, "split at \(index)")
        }
        #expect(try decode(encoded.indices.map { encoded[$0...$0] }, vector.codings) == expected)
    }

    @Test(
        "Content that ends early is an error",
        arguments: CodingVectors.all.filter { !$0.name.contains("Trailing") && !$0.name.contains("After") })
    func truncated(_ vector: CodingVectors.Vector) throws {
        let encoded = vector.encoded
        for count in 1..<encoded.count {
            let isAtEnd = ["gzipMembers": [49, 69], "zstdFrames": [46], "zstdSkippable": [11]][vector.name] ?? []
            // Some prefixes are complete content: they end after a whole member or frame, or contain only a part of the
            // next one's mark. Skip them.
            if isAtEnd.contains(where: { count >= $0 && count < $0 + 4 }) { continue }
            let failure = failure { () throws(DecodingFailure) in _ = try decode([encoded[..<count]], vector.codings) }
            guard case .truncated = failure else {
                Issue.record("\(count) bytes: \(String(describing: failure))")
                continue
            }
        }
    }

    @Test("Damaged content is an error or other content, never a trap", arguments: CodingVectors.all)
    func damaged(_ vector: CodingVectors.Vector) {
        let encoded = vector.encoded
        for index in encoded.indices {
            for bit in 0..<8 {
                var bytes = encoded
                bytes[index] ^= 1 << UInt8(bit)
                let failure = failure { () throws(DecodingFailure) in
                    _ = try decode([bytes[...]], vector.codings, limit: 50)
                }
                switch failure {
                case .damaged, .truncated, .excess, nil: break
                case .unavailable, .unsupported: Issue.record("bit \(bit) of byte \(index)")
                }
            }
        }
    }

    @Test("A wrong checksum is an error after the content", arguments: [("gzip", 8), ("zlib", 4), ("zstd", 4)])
    func checksum(_ name: String, _ fromEnd: Int) throws {
        let vector = try #require(CodingVectors.all.first { $0.name == name })
        var bytes = vector.encoded
        bytes[bytes.count - fromEnd] ^= 1
        let decoder = try ContentDecoder(vector.codings)
        decoder.append(Data(bytes))
        var failures: [DecodingFailure] = []
        for _ in 0..<3 {
            do throws(DecodingFailure) { _ = try decoder.next() } catch { failures.append(error) }
        }
        let first = try #require(failures.first)
        #expect(failures.allSatisfy { $0 == first }, "a failure is final")
        guard case .damaged(vector.codings[0], _, let reason) = first else {
            Issue.record("\(first)")
            return
        }
        #expect(!reason.isEmpty && first.description.contains(reason))
    }

    @Test("Content without a byte is empty", arguments: ContentCoding.allCases)
    func empty(_ coding: ContentCoding) throws { #expect(try decode([], [coding]) == []) }

    @Test("Text in place of encoded data is an error", arguments: ContentCoding.allCases)
    func text(_ coding: ContentCoding) {
        let failure = failure { () throws(DecodingFailure) in
            _ = try decode([Array("<!doctype html>".utf8)[...]], [coding])
        }
        #expect(failure != nil)
    }

    @Test("Frames of zstd from before RFC 8878 are refused, though the library decodes them", arguments: 0x22...0x27)
    func oldFrames(_ first: Int) {
        let frame: [UInt8] = [UInt8(first), 0xb5, 0x2f, 0xfd, 0x91, 0x04, 0x68, 0xcb, 0x72, 0x0d, 0x2b]
        for pieces in [[frame[...]], frame.indices.map { frame[$0...$0] }] {
            let failure = failure { () throws(DecodingFailure) in _ = try decode(pieces, [.zstandard]) }
            guard case .damaged(.zstandard, offset: 0, _) = failure else {
                Issue.record("\(String(describing: failure))")
                continue
            }
        }
    }

    // MARK: Limits

    @Test("One received piece becomes many small ones", arguments: CodingVectors.zeros)
    func bounded(_ vector: CodingVectors.Vector) throws {
        let count = try decode([vector.encoded[...]], vector.codings, budget: DecodingBudget(maximumRatio: 100_000))
            .count
        #expect(count == (vector.name == "brotliZeros" ? 1_048_000 : 1 << 20))
    }

    @Test("The ratio is limited", arguments: CodingVectors.zeros)
    func ratio(_ vector: CodingVectors.Vector) throws {
        let decoder = try ContentDecoder(
            vector.codings, budget: DecodingBudget(maximumRatio: 20, ratioThreshold: 100_000))
        decoder.append(Data(vector.encoded))
        var count = 0
        let failure = failure { () throws(DecodingFailure) in
            while let piece = try decoder.next() { count += piece.count }
        }
        #expect(failure == .excess(.ratio(limit: 20)))
        #expect(count <= 100_000)
    }

    @Test("The size is limited")
    func size() throws {
        let vector = CodingVectors.zeros[0]
        let budget = DecodingBudget(maximumRatio: 100_000, maximumSize: (1 << 20) - 1)
        let failure = failure { () throws(DecodingFailure) in
            _ = try decode([vector.encoded[...]], vector.codings, budget: budget)
        }
        #expect(failure == .excess(.size(limit: (1 << 20) - 1)))
    }

    @Test("Work without content is limited")
    func emptyMembers() throws {
        let vector = CodingVectors.emptyMembers
        #expect(try decode([vector.encoded[...]], vector.codings) == [])
        let budget = DecodingBudget(maximumRatio: 20, ratioThreshold: 10_000)
        let failure = failure { () throws(DecodingFailure) in
            _ = try decode([vector.encoded[...]], vector.codings, budget: budget)
        }
        #expect(failure == .excess(.ratio(limit: 20)))
    }

    @Test("A zstd window of more than 8 MiB is refused (RFC 9659 §3)")
    func wideWindow() {
        let vector = CodingVectors.wideWindow
        let failure = failure { () throws(DecodingFailure) in _ = try decode([vector.encoded[...]], vector.codings) }
        guard case .damaged(.zstandard, _, _) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
    }

    // MARK: Libraries and fields

    @Test("Accept-Encoding names what is installed")
    func acceptEncoding() {
        #expect(ContentDecoder.available == Set(ContentCoding.allCases))
        #expect(ContentDecoder.acceptEncoding(isSecure: false) == "gzip, deflate")
        #expect(ContentDecoder.acceptEncoding(isSecure: true) == "gzip, deflate, br, zstd")
    }

    @Test(
        "A missing library is an error that names its package",
        arguments: [(CodingLibrary.zlib, "zlib1g"), (.brotli, "libbrotli1"), (.zstd, "libzstd1")])
    func absent(_ library: CodingLibrary, _ package: String) {
        #expect(library.problem == nil)
        #expect(library.probe("libno-such-library.so.9")?.contains(package) == true)
        #expect(library.probe("libc.so.6")?.contains("has no function") == true)
    }

    @Test("The fields of a message choose the decoder")
    func fields() throws {
        var fields = FieldSection()
        #expect(try ContentDecoder.decoder(for: fields) == nil)
        fields.append("Content-Encoding", "identity")
        #expect(try ContentDecoder.decoder(for: fields) == nil)
        fields.append("content-encoding", "GZip")
        let decoder = try #require(try ContentDecoder.decoder(for: fields))
        decoder.append(Data(CodingVectors.all[0].encoded))
        #expect(try decoder.next() == Data(CodingVectors.text.utf8))
        fields.append("Content-Encoding", "exi")
        // Content with an unknown coding is delivered without decoding.
        #expect(try ContentDecoder.decoder(for: fields) == nil)
        fields.set("Content-Encoding", "gzip, gzip, gzip, gzip, gzip")
        #expect(throws: DecodingFailure.unsupported("gzip")) { try ContentDecoder.decoder(for: fields) }
    }

    @Test("Mutated content decodes in the same way in any split", arguments: CodingVectors.all)
    func mutated(_ vector: CodingVectors.Vector) {
        var random = SplitMix64(seed: UInt64(vector.encoded.count))
        for _ in 0..<20 {
            var bytes = vector.encoded
            for _ in 0..<random.integer(in: 0...2) {
                bytes[random.integer(in: 0...(bytes.count - 1))] ^= 1 << UInt8(random.integer(in: 0...7))
            }
            for coding in 0..<4 as Range<UInt8> { Exercise.contentDecoding([0, coding] + bytes) }
            Exercise.contentDecoding([1, 0, 2] + bytes)
        }
        #expect(Exercise.contentDecoding([0, 0] + CodingVectors.all[0].encoded))
    }
}
