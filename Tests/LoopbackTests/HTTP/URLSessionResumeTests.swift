import CausewaySystem
import CausewayURLLoading
import Foundation
import Testing

extension Loopback {
    @Suite("§12: downloads whose connection breaks")
    struct URLSessionResumeTests {
        /// A server of one text that closes each connection after a part of it.
        private final class CuttingServer: Sendable {
            let text: String
            let sent = LockedValue(0)
            let requests = RequestLog()

            init(length: Int) {
                text = String((0..<length).map { "0123456789abcdef\n".dropFirst($0 * 7 % 17).first ?? "?" })
            }

            func start(tag: @escaping @Sendable (Int) -> String, part: @escaping @Sendable (Int) -> Int) throws
                -> ScriptedServer
            {
                try ScriptedServer { [self] peer in
                    guard let request = try await peer.readRequest() else { return }
                    let number = requests.all.count
                    requests.append(request)
                    let tag = tag(number)
                    let isSame = request["if-range"] == tag
                    let offset = isSame ? request["range"].flatMap { Int($0.dropFirst(6).dropLast()) } ?? 0 : 0
                    let rest = text.dropFirst(offset)
                    let range = "Content-Range: bytes \(offset)-\(text.count - 1)/\(text.count)\r\n"
                    try await peer.write(
                        "HTTP/1.1 \(offset > 0 ? "206 Partial Content" : "200 OK")\r\nETag: \(tag)\r\n"
                            + "Content-Length: \(rest.count)\r\n" + (offset > 0 ? range : "") + "\r\n")
                    let part = rest.prefix(part(number))
                    sent.withLock { $0 += part.count }
                    try await peer.write(String(part))
                }
            }
        }

        /// Downloads with resume data until the content is complete. Returns it.
        private func download(_ url: URL) async throws -> Data {
            let session = privateSession()
            var resumeData: Data?
            while true {
                do {
                    let (file, _) =
                        if let resumeData { try await session.download(resumeFrom: resumeData) } else {
                            try await session.download(from: url)
                        }
                    defer { try? FileManager.default.removeItem(at: file) }
                    return try Data(contentsOf: file)
                } catch let error as URLError {
                    #expect(error.code == .networkConnectionLost)
                    guard let data = error.downloadTaskResumeData else { throw error }
                    resumeData = data
                }
            }
        }

        @Test("Many cuts: the file is complete, and no byte is sent twice")
        func cuts() async throws {
            let server = CuttingServer(length: 200_000)
            let scripted = try server.start(tag: { _ in "\"same\"" }, part: { 1 + ($0 &* 2_654_435_761) % 9_973 })
            #expect(try await download(try #require(URL(string: scripted.uri()))) == Data(server.text.utf8))
            #expect(server.sent.withLock { $0 } == server.text.utf8.count)
            #expect(server.requests.all.count > 20)
        }

        @Test("Content that changes in between is loaded from the beginning")
        func changes() async throws {
            let server = CuttingServer(length: 20_000)
            let scripted = try server.start(
                tag: { "\"\($0 < 3 ? "old" : "new")\"" }, part: { $0 < 6 ? 5_000 : 20_000 })
            #expect(try await download(try #require(URL(string: scripted.uri()))) == Data(server.text.utf8))
            #expect(server.sent.withLock { $0 } == 35_000)
        }
    }
}
