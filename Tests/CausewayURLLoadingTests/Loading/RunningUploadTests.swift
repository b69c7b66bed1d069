import CausewayHTTP
import CausewayProtocols
import CausewayWire
import Foundation
import Testing

@testable import CausewayURLLoading

@Suite("Resumable uploads of tasks")
struct RunningUploadTests {
    private let url = URL(string: "https://example.com/a").unsafelyUnwrapped

    private func upload(_ method: String = "POST", _ content: String = "content", _ field: String? = nil) throws
        -> RunningUpload?
    {
        var request = URLRequest(url: url)
        request.httpMethod = method
        if let field { request.setValue("1", forHTTPHeaderField: field) }
        let session = URLSession(configuration: .ephemeral)
        let core = try #require(session.uploadTask(with: request, from: Data(content.utf8)).core)
        var loaded = request
        loaded.httpBody = Data(content.utf8)
        return RunningUpload(of: LoadAttempt(request: loaded, task: core))
    }

    private func head(_ status: Int, _ fields: (String, String)...) -> HTTPResponseHead {
        var section = FieldSection()
        for (name, value) in fields { section.append(name, value) }
        return HTTPResponseHead(status: status, fields: section)
    }

    @Test("Tasks with content are resumable, unless the method has none or the program sends fields of the draft")
    func kinds() throws {
        #expect(try upload()?.nextOffset == 0)
        #expect(try upload("POST", "") == nil)
        #expect(try upload("POST", "content", "Upload-Offset") == nil)
        let session = URLSession(configuration: .ephemeral)
        let core = try #require(session.dataTask(with: url).core)
        #expect(RunningUpload(of: LoadAttempt(request: URLRequest(url: url), task: core)) == nil)
    }

    @Test("After the connection broke, the offset is asked for without content, and the rest is sent from there")
    func resumes() throws {
        let upload = try #require(try upload())
        let values = URLRequest(url: url).values
        upload.informed(head(104, ("Location", "/resource"), ("Upload-Draft-Interop-Version", "6")), of: values)
        #expect(upload.connectionBroke() != nil)
        #expect(upload.nextOffset == nil && upload.request(values)?.method == "HEAD")
        guard case .sendAgain = upload.answered(head(204, ("Upload-Offset", "3"), ("Upload-Complete", "?0"))) else {
            Issue.record("the offset is known")
            return
        }
        #expect(upload.nextOffset == 3 && upload.request(values)?.method == "PATCH")
        #expect(upload.request(values)?.target == "/resource")
    }

    @Test("A challenge and the final response are for the load; without a resource the upload cannot continue")
    func delivers() throws {
        let upload = try #require(try upload())
        for status in [401, 200] {
            guard case .deliver = upload.answered(head(status)) else {
                Issue.record("status \(status) is delivered")
                return
            }
        }
        #expect(try #require(try self.upload()).connectionBroke() == nil)
    }
}
