// Shows framing on a byte stream: a header of 4 bytes contains the length of the body after it.
import Causeway
import Foundation

@main
enum HeaderThenBody {
    static let queue = DispatchQueue(label: "framing")
    static let headerSize = 4
    static let largestBody = 1_000_000

    static func main() throws {
        let listener = try NWListener(using: .tcp)
        listener.newConnectionHandler = { connection in
            connection.start(queue: queue)
            readHeader(from: connection)
        }
        listener.stateUpdateHandler = { [unowned listener] state in
            guard state == .ready, let port = listener.port else { return }
            let connection = NWConnection(host: "127.0.0.1", port: port, using: .tcp)
            connection.start(queue: queue)
            ["first", "", "the third and last"].forEach { send($0, on: connection) }
            connection.send(content: nil, contentContext: .finalMessage, isComplete: true, completion: .idempotent)
        }
        listener.start(queue: queue)
        dispatchMain()
    }

    static func send(_ message: String, on connection: NWConnection) {
        let body = Data(message.utf8)
        let header = withUnsafeBytes(of: UInt32(body.count).bigEndian) { Data($0) }
        // The batch sends both in one piece.
        connection.batch {
            connection.send(content: header, completion: .idempotent)
            connection.send(content: body, completion: .idempotent)
        }
    }

    /// Receives the header. Minimum and maximum are equal: the result has exactly this many bytes, or the stream has ended.
    static func readHeader(from connection: NWConnection) {
        connection.receive(minimumIncompleteLength: headerSize, maximumLength: headerSize) { header, _, _, error in
            guard let header, header.count == headerSize, error == nil else { exit(error == nil ? 0 : 1) }
            let length = header.reduce(0) { $0 << 8 | Int($1) }
            // A length from the network must be checked.
            guard length <= largestBody else { return connection.forceCancel() }
            length == 0 ? finish(Data(), from: connection) : readBody(length, from: connection)
        }
    }

    static func readBody(_ length: Int, from connection: NWConnection) {
        connection.receive(minimumIncompleteLength: length, maximumLength: length) { body, _, _, error in
            guard let body, body.count == length, error == nil else { return connection.forceCancel() }
            finish(body, from: connection)
        }
    }

    static func finish(_ body: Data, from connection: NWConnection) {
        print("Message of \(body.count) bytes: \"\(String(decoding: body, as: UTF8.self))\"")
        readHeader(from: connection)
    }
}
