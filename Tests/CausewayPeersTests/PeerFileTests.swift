import CausewayPeerProtocols
import Foundation
import Testing

@testable import CausewayPeers

@Suite("Files of peers on the disk")
struct PeerFileTests {
    @Test("A block behind the end of a sent file is refused, and the one at the end is empty")
    func offsets() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).txt")
        defer { try? FileManager.default.removeItem(at: url) }
        try Data("abc".utf8).write(to: url)
        let source = OutgoingFile.Source(url: url, size: 3, hasDigest: false)
        let file = OutgoingFile(source, Progress(totalUnitCount: 3), { _, _ in }, { _ in })
        defer { file.close() }
        for offset in [4, 1 << 63, .max] as [UInt64] {
            #expect(throws: PeerFailure(.violation)) { try file.read(offset, 10) }
        }
        let last = try file.read(3, 10)
        #expect(last.bytes == [] && last.isLast)
        let whole = try file.read(0, 10)
        #expect(whole.bytes == Array("abc".utf8) && whole.isLast)
    }

    @Test(
        "A received file can have any name of at most 255 bytes",
        arguments: [
            String(repeating: "a", count: 255),
            String(repeating: "a", count: 60) + ".part",
            // A single character with five bytes.
            String(repeating: "e\u{302}\u{301}", count: 51),
            "file.part",
        ])
    func names(_ name: String) throws {
        let file = IncomingFile(ResourceOffer(name: name, size: 2), nil)
        defer { file.end(keepsPart: false) }
        let offset = try file.create()
        try file.write([1, 2], at: offset)
        let url = try file.finish(nil)
        #expect(url.lastPathComponent == name)
        #expect(try Data(contentsOf: url) == Data([1, 2]))
    }

    @Test("Bytes that wait for the disk are written together, in order")
    func waiting() throws {
        let file = IncomingFile(ResourceOffer(name: "a", size: 5), nil)
        defer { file.end(keepsPart: false) }
        let offset = try file.create()
        let isFirst = [file.add([1, 2], at: offset), file.add([3], at: offset + 2), file.add([4], at: offset + 3)]
        #expect(isFirst == [true, false, false])
        let count = try file.writeWaiting()
        #expect(count == 4 && file.add([5], at: offset + 4))
        _ = try file.writeWaiting()
        let url = try file.finish(nil)
        #expect(try Data(contentsOf: url) == Data([1, 2, 3, 4, 5]))
    }
}
