import CausewaySystem
import CausewayURLLoading
import Foundation
import Testing

extension Loopback {
    @Suite("Uploads of multipart forms")
    struct URLSessionFormTests {
        /// Calls a closure with a form that contains a file. Also passes the file's URL.
        private func withForm(_ body: (MultipartForm, URL) async throws -> Void) async throws {
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("causeway-\(UUID()).txt")
            try Data(repeating: UInt8(ascii: "x"), count: 300_000).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            var form = MultipartForm()
            form.append("Ann", name: "author")
            form.append(contentsOf: file, name: "f")
            try await body(form, file)
        }

        @Test("The form is sent again after a redirect and a challenge, with its length, without asking the delegate")
        func replayed() async throws {
            try await withForm { form, _ in
                let requests = RequestLog()
                let server = try ScriptedServer { peer in
                    try await peer.serve { request in
                        requests.append(request)
                        if request.target == "/a" { return reply("307 Temporary Redirect", ["Location: /b"]) }
                        guard request["authorization"] != nil else {
                            return reply("401 Unauthorized", ["WWW-Authenticate: Basic realm=\"r\""])
                        }
                        return reply("200 OK", [], "\(request.body.utf8.count)")
                    }
                }
                let delegate = EventDelegate { _ in
                    (.useCredential, URLCredential(user: "u", password: "p", persistence: .none))
                }
                let session = privateSession(delegate)
                let task = session.uploadTask(
                    with: URLRequest(url: try #require(URL(string: server.uri("/a")))), from: form)
                task.resume()
                await delegate.end.wait()
                let content = String(decoding: try form.encoded(), as: UTF8.self)
                #expect(requests.all.map(\.target) == ["/a", "/b", "/b"])
                for request in requests.all {
                    #expect(request.method == "POST" && request.body == content)
                    #expect(request["content-length"] == "\(content.utf8.count)" && request["transfer-encoding"] == nil)
                    #expect(request["content-type"] == form.contentType)
                }
                #expect(delegate.error == nil && task.countOfBytesSent == Int64(content.utf8.count))
                #expect(delegate.events.contains("sent \(content.utf8.count) of \(content.utf8.count)"))
            }
        }

        @Test(
            "A file that vanishes or changes its size ends the upload",
            arguments: [("gone", URLError.Code.fileDoesNotExist), ("grown", .cannotOpenFile), ("cut", .cannotOpenFile)])
        func changed(_ change: String, _ code: URLError.Code) async throws {
            try await withForm { form, file in
                let server = try ScriptedServer { peer in
                    guard try await peer.readHead() != nil else { return }
                    while try await !peer.socket.read().isEmpty {}
                }
                let delegate = EventDelegate()
                let session = privateSession(delegate)
                let task = session.uploadTask(
                    with: URLRequest(url: try #require(URL(string: server.uri("/")))), from: form)
                switch change {
                case "gone": try FileManager.default.removeItem(at: file)
                case "grown": try Data(count: 300_001).write(to: file)
                default: try Data(count: 299_999).write(to: file)
                }
                task.resume()
                await delegate.end.wait()
                #expect((delegate.error as? URLError)?.code == code)
            }
        }
    }
}
