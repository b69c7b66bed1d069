import CausewayTestKit
import Foundation
import Testing

@testable import CausewayURLLoading

/// Tests that a byte sequence stays on its reader's actor while bytes are available. If the thread changed for each
/// byte, the processor time would be a hundred times higher.
@Suite("Isolation of sequences")
struct SequenceIsolationTests {
    private static let count = 20_000

    enum Kind: String, CaseIterable, CustomTestStringConvertible, Sendable {
        case session, lines, characters, scalars, file, fileHandle

        var testDescription: String { rawValue }
    }

    @Test("An actor that reads many elements returns to itself a few times", arguments: Kind.allCases)
    func jobs(_ kind: Kind) async throws {
        let text = Data(repeating: UInt8(ascii: "a"), count: Self.count)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("causeway-\(UUID()).txt")
        try text.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let session = MockProtocol.session("isolation-\(kind).mock") { mock in
            mock.respond()
            mock.load(String(decoding: text, as: UTF8.self))
            mock.finish()
        }
        let url = try #require(URL(string: "http://isolation-\(kind).mock/"))
        let reader = CountingActor()
        let handle = try FileHandle(forReadingFrom: file)
        let count = try await reader.run { reader -> Int in
            let (bytes, _) = try await session.bytes(from: url)
            switch kind {
            case .session: return try await Self.count(bytes, on: reader)
            case .lines:
                var all = ""
                for try await line in bytes.lines { all += line }
                return all.utf8.count
            case .characters: return try await Self.count(bytes.characters, on: reader)
            case .scalars: return try await Self.count(bytes.unicodeScalars, on: reader)
            case .file: return try await Self.count(file.resourceBytes, on: reader)
            case .fileHandle: return try await Self.count(handle.bytes, on: reader)
            }
        }
        #expect(count == Self.count)
        #expect(reader.jobCount < Self.count / 100)
    }

    private static func count<Elements: AsyncSequence>(
        _ elements: Elements, on reader: isolated CountingActor
    ) async throws -> Int {
        var count = 0
        for try await _ in elements { count += 1 }
        return count
    }
}
