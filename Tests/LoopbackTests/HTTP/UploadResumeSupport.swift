import CausewayProtocols
import CausewaySystem
import CausewayURLLoading
import Foundation

/// An upload server that breaks each connection after a part of the content, so that clients must resume the upload.
final class UploadServer: Sendable {
    struct State {
        var content = ""
        var isComplete = false
        var sent = 0
    }

    let state = LockedValue(State())
    let requests = RequestLog()
    /// Returns how many content bytes to read from a request. The argument is the request's number. `nil` means all
    /// bytes.
    private let part: @Sendable (Int) -> Int?
    private let version: Int
    /// Whether the server remembers the uploads that it has begun.
    private let remembers: @Sendable (Int) -> Bool
    /// Whether the server demands another Digest authentication for each method.
    private let asksForDigest: Bool

    init(
        version: Int = 6, asksForDigest: Bool = false, remembers: @escaping @Sendable (Int) -> Bool = { _ in true },
        part: @escaping @Sendable (Int) -> Int?
    ) {
        self.version = version
        self.asksForDigest = asksForDigest
        self.remembers = remembers
        self.part = part
    }

    var content: String { state.withLock { $0.content } }
    var sent: Int { state.withLock { $0.sent } }

    func start(_ medium: Medium = .tcp4) throws -> ScriptedServer {
        try ScriptedServer(medium) { [self] peer in
            while let head = try await peer.readHead() {
                let request = ScriptedRequest(head: head)
                let number = requests.all.count
                requests.append(request)
                guard try await answer(request, number, peer) else { return }
            }
        }
    }

    /// Answers one request. Returns whether the connection stays open.
    private func answer(_ request: ScriptedRequest, _ number: Int, _ peer: ScriptedPeer) async throws -> Bool {
        if asksForDigest, !isAuthorized(request) {
            _ = try await peer.read(count: request["content-length"].flatMap { Int($0) } ?? 0)
            let fields = "realm=\"r\", nonce=\"\(request.method)\", qop=\"auth\", stale=true"
            try await peer.write(reply("401 Unauthorized", ["WWW-Authenticate: Digest \(fields)"]))
            return true
        }
        if request.method == "HEAD" {
            try await peer.write(remembers(number) ? offset : "HTTP/1.1 404 Not Found\r\n\r\n")
            return true
        }
        if request.method == "POST" || request.method == "PUT" {
            state.withLock { $0.content = "" }
            let location = version == 0 ? "" : "Location: /uploads/1\r\n"
            try await peer.write(
                "HTTP/1.1 104 Upload Resumption Supported\r\nUpload-Draft-Interop-Version: \(version)\r\n\(location)\r\n"
            )
        } else if request["upload-offset"] != "\(content.utf8.count)" {
            try await peer.write("HTTP/1.1 409 Conflict\r\nContent-Length: 0\r\n\r\n")
            return false
        }
        let length = request["content-length"].flatMap { Int($0) } ?? 0
        let count = min(part(number) ?? length, length)
        let text = try await peer.read(count: count)
        state.withLock { state in
            state.content += text
            state.sent += text.utf8.count
        }
        guard count == length else {
            // Close in an orderly way. A connection reset could arrive before the response with status 104.
            peer.socket.finishWriting()
            while try await !peer.socket.read().isEmpty {}
            return false
        }
        try await peer.write(reply("200 OK", [], "got \(content.utf8.count)"))
        return true
    }

    /// Whether a request contains the Digest response for the user `user`, the realm `r` and the password `pass`. The
    /// response covers the request's method and target, and the nonce for this method (RFC 7616 §3.4.1).
    private func isAuthorized(_ request: ScriptedRequest) -> Bool {
        guard let value = request["authorization"] else { return false }
        func part(_ name: String) -> String {
            guard let start = value.range(of: " \(name)=") else { return "" }
            return String(value[start.upperBound...].drop { $0 == "\"" }.prefix { !"\",".contains($0) })
        }
        func md5(_ text: String) -> String {
            (Digests.builtIn(.md5, Array(text.utf8)) ?? []).map { String(Int($0) + 256, radix: 16).suffix(2) }.joined()
        }
        let proof = [part("nonce"), part("nc"), part("cnonce"), "auth", md5("\(request.method):\(request.target)")]
        return part("nonce") == request.method
            && part("response") == md5(([md5("user:r:pass")] + proof).joined(separator: ":"))
    }

    private var offset: String {
        "HTTP/1.1 204 No Content\r\nUpload-Offset: \(content.utf8.count)\r\n"
            + (version == 3 ? "Upload-Incomplete: ?1" : "Upload-Complete: ?0") + "\r\nCache-Control: no-store\r\n\r\n"
    }
}

/// Supplies an upload's content as a stream, from any offset.
final class StreamSupplier: NSObject, URLSessionDataDelegate {
    private let content: Data
    let offsets = LockedValue<[Int64]>([])

    init(_ content: Data) { self.content = content }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        offsets.withLock { $0.append(0) }
        completionHandler(InputStream(data: content))
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, needNewBodyStreamFrom offset: Int64,
        completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        offsets.withLock { $0.append(offset) }
        completionHandler(InputStream(data: Data(content.dropFirst(Int(offset)))))
    }
}
