import Causeway
import CausewaySystem
import FoundationEssentials

/// Stores all bytes from one connection as one file. The end of the stream is the end of the file.
struct RawFileReceiver {
    struct Stored: Sendable {
        var name: String
        var byteCount: UInt64
        var kind: ContentKind
    }

    /// The maximum size of one receive in bytes.
    private static let chunk = 262_144

    let connection: NWConnection
    let directory: String
    let maximumSize: UInt64?
    private let thread = FileThread("nw.receive")

    init(connection: NWConnection, directory: String, maximumSize: UInt64?) {
        self.connection = connection
        self.directory = directory
        self.maximumSize = maximumSize
    }

    /// Receives until the peer ends its stream. The file name contains the arrival time and the peer's address.
    ///
    /// - Throws: Connection or disk errors; ``CommandFailure`` if the content is too large. The incomplete file is removed.
    func receive() async throws -> Stored {
        let (thread, directory) = (thread, directory)
        let file = try await thread.run { try IncomingFile(in: directory) }
        do {
            var beginning = Data()
            var byteCount: UInt64 = 0
            var content = try await connection.receive(atMost: Self.chunk)
            while let piece = content {
                byteCount += UInt64(piece.count)
                if let maximumSize, byteCount > maximumSize { throw CommandFailure("more than \(maximumSize) bytes") }
                if beginning.count < 512 { beginning.append(piece.prefix(512)) }
                async let written: Void = thread.run { try file.append(piece) }
                content = try await connection.receive(atMost: Self.chunk)
                try await written
            }
            let kind = ContentKind(of: beginning)
            let base = "\(Self.timeLabel())-\(Self.label(of: connection.endpoint))"
            let name = try await thread.run { try file.store(as: base, fileExtension: kind.fileExtension) }
            return Stored(name: name, byteCount: byteCount, kind: kind)
        } catch {
            // Remove the file now and not in `deinit`, because the process may exit before `deinit` runs.
            await thread.finish { file.discard() }
            throw error
        }
    }

    /// Returns the peer as `127.0.0.1-51234` or `fe80--1-51234`, which every file system accepts as part of a name.
    private static func label(of peer: NWEndpoint) -> String {
        String(peer.label.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == ".") ? $0 : "-" }.drop { $0 == "-" })
    }

    /// Returns the date and time in UTC, such as `20260102T030405Z`.
    private static func timeLabel() -> String {
        var now = time(nil)
        var fields = tm()
        gmtime_r(&now, &fields)
        var text = [CChar](repeating: 0, count: 32)
        let count = strftime(&text, text.count, "%Y%m%dT%H%M%SZ", &fields)
        return String(decoding: text.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
