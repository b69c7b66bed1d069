import CausewaySystem
import CausewayTestKit
import CausewayURLLoading
import Foundation
import Testing

extension Loopback {
    @Suite("§13: uploads whose connection breaks")
    struct URLSessionUploadResumeTests {
        private let text = String((0..<200_000).map { "0123456789abcdef\n".dropFirst($0 * 7 % 17).first ?? "?" })

        private func request(_ server: ScriptedServer, _ method: String = "POST") throws -> URLRequest {
            var request = URLRequest(url: try #require(URL(string: server.uri("/files"))))
            request.httpMethod = method
            return request
        }

        private func temporaryFile(_ content: String) throws -> URL {
            let url = FileManager.default.temporaryDirectory.appendingPathComponent("upload-\(UUID().uuidString)")
            try Data(content.utf8).write(to: url)
            return url
        }

        @Test("Data arrives complete and no byte twice, in each version of the draft", arguments: [3, 5, 6])
        func data(version: Int) async throws {
            let server = UploadServer(version: version, part: { $0 < 6 ? 20_000 + $0 : nil })
            let scripted = try server.start(version == 5 ? .tcp6 : .tcp4)
            let (answer, response) = try await privateSession().upload(for: request(scripted), from: Data(text.utf8))
            #expect(String(decoding: answer, as: UTF8.self) == "got \(text.utf8.count)")
            #expect((response as? HTTPURLResponse)?.statusCode == 200)
            #expect(server.content == text && server.sent == text.utf8.count)
            #expect(server.requests.all.map(\.method) == ["POST", "HEAD", "PATCH", "HEAD", "PATCH", "HEAD", "PATCH"])
            #expect(server.requests.all[2]["upload-offset"] == "20000")
        }

        @Test("A file arrives complete")
        func file() async throws {
            let server = UploadServer(part: { $0 < 3 ? 70_000 : nil })
            let scripted = try server.start()
            let file = try temporaryFile(text)
            defer { try? FileManager.default.removeItem(at: file) }
            _ = try await privateSession().upload(for: request(scripted), fromFile: file)
            #expect(server.content == text && server.sent == text.utf8.count)
        }

        @Test("A stream continues with the delegate's stream from the offset")
        func stream() async throws {
            let server = UploadServer(part: { $0 == 0 ? 50_000 : nil })
            let scripted = try server.start()
            let supplier = StreamSupplier(Data(text.utf8))
            var request = try request(scripted)
            request.setValue("\(text.utf8.count)", forHTTPHeaderField: "Content-Length")
            let session = privateSession(supplier)
            let task = session.uploadTask(withStreamedRequest: request)
            task.resume()
            while task.state != .completed { await Task.yield() }
            #expect(task.error == nil)
            #expect(server.content == text && server.sent == text.utf8.count)
            #expect(supplier.offsets.withLock { $0 } == [0, 50_000])
        }

        @Test("The totals of the delegate go on at the offset")
        func totals() async throws {
            let server = UploadServer(part: { $0 == 0 ? 50_000 : nil })
            let scripted = try server.start()
            let delegate = EventDelegate()
            let task = privateSession(delegate).uploadTask(with: try request(scripted), from: Data(text.utf8))
            task.resume()
            await delegate.end.wait()
            #expect(delegate.events.contains("informational 104"))
            #expect(delegate.events.contains("sent 200000 of 200000"))
            #expect(task.countOfBytesSent == 200_000)
        }

        /// Starts an upload, and cancels it after the server has named a resource. Returns the resume data.
        private func interrupted(_ server: ScriptedServer, _ file: URL, isForm: Bool = false) async throws -> Data {
            let arrived = Gate()
            // The upload must not complete. So suspend its task as soon as the server has named the upload resource.
            let delegate = InformedDelegate { arrived.open() }
            let session = privateSession(delegate)
            var form = MultipartForm()
            form.append("Ann", name: "author")
            form.append(contentsOf: file, name: "f")
            let task =
                isForm
                ? session.uploadTask(with: try request(server), from: form)
                : session.uploadTask(with: try request(server), fromFile: file)
            task.resume()
            await arrived.wait()
            let data = try #require(await task.cancelByProducingResumeData())
            while task.state != .completed { await Task.yield() }
            #expect((task.error as? URLError)?.code == .cancelled)
            #expect((task.error as? URLError)?.uploadTaskResumeData == data)
            return data
        }

        @Test("Resume data continues the upload in another session")
        func resumeData() async throws {
            let server = UploadServer(part: { $0 == 0 ? 50_000 : nil })
            let scripted = try server.start()
            let file = try temporaryFile(text)
            defer { try? FileManager.default.removeItem(at: file) }
            let data = try await interrupted(scripted, file)
            let (answer, _) = try await privateSession().upload(resumeFrom: data)
            #expect(String(decoding: answer, as: UTF8.self) == "got \(text.utf8.count)")
            #expect(server.content == text)
            #expect(server.requests.all.map(\.method).filter { $0 == "POST" }.count == 1)
        }

        @Test(
            "Resume data of a form continues its upload; after a change of its file it starts over",
            arguments: [false, true])
        func resumedForm(changes: Bool) async throws {
            let server = UploadServer(part: { $0 == 0 ? 50_000 : nil })
            let scripted = try server.start()
            let file = try temporaryFile(text)
            defer { try? FileManager.default.removeItem(at: file) }
            let data = try await interrupted(scripted, file, isForm: true)
            if changes { try Data("another".utf8).write(to: file) }
            let (answer, _) = try await privateSession().upload(resumeFrom: data)
            #expect(String(decoding: answer, as: UTF8.self) == "got \(server.content.utf8.count)")
            let parts = server.content.components(separatedBy: "\r\n")
            #expect(parts.contains("Ann") && parts.contains(changes ? "another" : text))
            #expect(parts.first == parts.dropLast().last.map { String($0.dropLast(2)) })
            #expect(server.requests.all.map(\.method).filter { $0 == "POST" }.count == (changes ? 2 : 1))
        }

        @Test("Resume data of a form whose file is missing fails")
        func formWithoutFile() async throws {
            let server = UploadServer(part: { $0 == 0 ? 50_000 : nil })
            let scripted = try server.start()
            let file = try temporaryFile(text)
            let data = try await interrupted(scripted, file, isForm: true)
            try FileManager.default.removeItem(at: file)
            let code = await failureCode { _ = try await privateSession().upload(resumeFrom: data) }
            #expect(code == .fileDoesNotExist)
        }

        @Test("A file that has changed is uploaded from the beginning")
        func changedFile() async throws {
            let server = UploadServer(part: { $0 == 0 ? 0 : nil })
            let scripted = try server.start()
            let file = try temporaryFile(text)
            defer { try? FileManager.default.removeItem(at: file) }
            let data = try await interrupted(scripted, file)
            try Data("another".utf8).write(to: file)
            _ = try await privateSession().upload(resumeFrom: data)
            #expect(server.content == "another")
        }

        @Test("Without the resource of a server, a broken upload fails and has no resume data")
        func unsupported() async throws {
            let server = UploadServer(version: 0, part: { _ in 50_000 })
            let scripted = try server.start()
            let error = await failure {
                _ = try await privateSession().upload(for: request(scripted), from: Data(text.utf8))
            }
            #expect(error?.code == .networkConnectionLost && error?.uploadTaskResumeData == nil)
            #expect(server.requests.all.map(\.method) == ["POST"])
        }

        @Test("A POST that the server has forgotten is not sent twice; a PUT starts over")
        func forgotten() async throws {
            let server = UploadServer(remembers: { _ in false }, part: { $0 == 0 ? 50_000 : nil })
            let scripted = try server.start()
            let error = await failure {
                _ = try await privateSession().upload(for: request(scripted), from: Data(text.utf8))
            }
            #expect(error?.code == .networkConnectionLost)
            #expect(server.requests.all.map(\.method) == ["POST", "HEAD"])

            let other = UploadServer(remembers: { _ in false }, part: { $0 == 0 ? 50_000 : nil })
            let second = try other.start()
            _ = try await privateSession().upload(for: request(second, "PUT"), from: Data(text.utf8))
            #expect(other.requests.all.map(\.method) == ["PUT", "HEAD", "PUT"])
            #expect(other.content == text)
        }

        @Test("The program can choose the version, or speak the protocol by its own code")
        func chosenVersion() async throws {
            let server = UploadServer(version: 3, part: { $0 == 0 ? 50_000 : nil })
            let scripted = try server.start()
            var request = try request(scripted)
            request.setValue("3", forHTTPHeaderField: "Upload-Draft-Interop-Version")
            _ = try await privateSession().upload(for: request, from: Data(text.utf8))
            #expect(server.requests.all.map { $0["upload-draft-interop-version"] } == ["3", "3", "3"])
            #expect(server.requests.all.map { $0["upload-incomplete"] } == ["?0", nil, "?0"])

            let other = UploadServer(part: { _ in 50_000 })
            let second = try other.start()
            var own = try self.request(second)
            own.setValue("?0", forHTTPHeaderField: "Upload-Complete")
            let code = await failureCode { _ = try await privateSession().upload(for: own, from: Data(text.utf8)) }
            #expect(code == .networkConnectionLost)
            #expect(other.requests.all.map { $0["upload-complete"] } == ["?0"])
        }

        @Test("A server can ask for a digest at each step")
        func digest() async throws {
            let server = UploadServer(asksForDigest: true, part: { $0 == 1 ? 50_000 : nil })
            let scripted = try server.start()
            let delegate = EventDelegate { _ in
                (.useCredential, URLCredential(user: "user", password: "pass", persistence: .none))
            }
            _ = try await privateSession(delegate).upload(for: request(scripted), from: Data(text.utf8))
            #expect(server.content == text)
            #expect(server.requests.all.map(\.method) == ["POST", "POST", "HEAD", "HEAD", "PATCH", "PATCH"])
        }

        @Test("Invalid resume data fails")
        func invalid() async {
            let code = await failureCode { _ = try await privateSession().upload(resumeFrom: Data("x".utf8)) }
            #expect(code == .unsupportedURL)
        }
    }
}

/// A delegate that suspends its task when the server has named an upload resource.
private final class InformedDelegate: NSObject, URLSessionDataDelegate {
    private let call: @Sendable () -> Void

    init(_ call: @escaping @Sendable () -> Void) { self.call = call }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse
    ) {
        task.suspend()
        call()
    }
}
