import Foundation
import Testing

@testable import CausewayPackets

/// Capture files from other projects, in a folder next to the checkout.
enum PacketData {
    static let folder: URL? = {
        let checkout = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        for root in [checkout, checkout.deletingLastPathComponent()] {
            let place = root.appendingPathComponent("shared/data/packets")
            if FileManager.default.fileExists(atPath: place.path) { return place }
        }
        return nil
    }()

    /// Returns the folder. If there is none, prints that the tests of whole files are skipped, and returns `nil`.
    static func required(_ what: String) -> URL? {
        if folder == nil { print("SKIPPED: \(what): no shared/data/packets next to this checkout") }
        return folder
    }

    static func bytes(_ path: String) throws -> [UInt8] {
        guard let folder else { throw CocoaError(.fileNoSuchFile) }
        return Array(try Data(contentsOf: folder.appendingPathComponent(path)))
    }

    static func text(_ path: String) throws -> String { String(decoding: try bytes(path), as: UTF8.self) }

    /// Returns all captures of a folder.
    static func captures(_ name: String) throws -> [String] {
        guard let folder else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: folder.appendingPathComponent(name).path)
            .filter { $0.hasSuffix(".pcap") || $0.hasSuffix(".pcapng") }.sorted().map { "\(name)/\($0)" }
    }

    /// Returns the packets in a capture file, and the error that ended the reading.
    static func packets(_ file: [UInt8]) -> (packets: [(CapturedPacket, [UInt8])], error: CaptureFileError?) {
        var reader = CaptureFileReader()
        reader.feed(file)
        reader.finish()
        var packets: [(CapturedPacket, [UInt8])] = []
        do throws(CaptureFileError) {
            while let packet = try reader.next() { packets.append((packet, reader.bytes.array)) }
        } catch {
            return (packets, error)
        }
        return (packets, nil)
    }
}
