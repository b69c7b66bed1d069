import CausewayHTTP
import CausewayHTTPProtocols
import CausewayWire
import Foundation
import Testing

@testable import CausewayURLLoading

extension RunningUpload {
    /// Returns a POST upload of 7 bytes.
    ///
    /// - Parameter hasResource: Whether the server has named the upload resource.
    static func make(hasResource: Bool = true) throws -> RunningUpload {
        var request = URLRequest(url: URL(string: "https://example.com/a").unsafelyUnwrapped)
        request.httpMethod = "POST"
        let content = Data("content".utf8)
        let session = URLSession(configuration: .ephemeral)
        let core = try #require(session.uploadTask(with: request, from: content).core)
        request.httpBody = content
        let upload = try #require(RunningUpload(of: LoadAttempt(request: request, task: core)))
        guard hasResource else { return upload }
        var fields = FieldSection()
        fields.append("Location", "/resource")
        fields.append("Upload-Draft-Interop-Version", "6")
        upload.informed(HTTPResponseHead(status: 104, fields: fields), of: request.values)
        return upload
    }
}

@Suite("Uploads of several exchanges")
struct InterruptedUploadTests {
    private func head(_ status: Int, _ fields: (String, String)...) -> HTTPResponseHead {
        var section = FieldSection()
        for (name, value) in fields { section.append(name, value) }
        return HTTPResponseHead(status: status, fields: section)
    }

    private let lost = LoadFailure(.connectionLost)

    /// Returns a load with an interrupted upload. The upload now asks the server for the offset.
    private func retrieving() throws -> (load: FakeLoad, upload: InterruptedUpload) {
        let (load, upload) = (FakeLoad(challenges: []), try RunningUpload.make())
        load.repeatExchange()
        #expect(upload.connectionBroke() != nil)
        return (load, InterruptedUpload(load: load, upload: upload))
    }

    @Test("After the connection broke, the next exchange follows a pause")
    func resumes() throws {
        let load = FakeLoad(challenges: [])
        load.failExchange(.noResponse(nil))
        let upload = InterruptedUpload(load: load, upload: try .make())
        #expect(upload.resumes(after: lost))
        #expect(load.steps == [.paused(.milliseconds(200))])
        let action = load.withState { $0.pauseElapsed().action }
        #expect(action == .prepare)
        // The upload has already paused for the current exchange. It does not resume again for the same exchange.
        #expect(!upload.resumes(after: lost))
    }

    @Test("Other failures, uploads without a resource and ended loads are not continued")
    func fails() throws {
        let load = FakeLoad(challenges: [])
        load.failExchange(.noResponse(nil))
        #expect(!InterruptedUpload(load: load, upload: try .make()).resumes(after: LoadFailure(.timedOut)))
        #expect(!InterruptedUpload(load: load, upload: try .make(hasResource: false)).resumes(after: lost))
        load.fail(lost)
        #expect(!InterruptedUpload(load: load, upload: try .make()).resumes(after: lost))
        #expect(load.steps == [.failed(.connectionLost)])
    }

    @Test("The answer with the offset is not for the program; the rest follows its end")
    func offset() throws {
        let (load, upload) = try retrieving()
        #expect(upload.continues(after: head(204, ("Upload-Offset", "3"), ("Upload-Complete", "?0"))))
        #expect(load.steps.isEmpty && load.withState { $0.response } == nil)
        let action = load.withState { $0.exchangeEnded(.success(FieldSection())).action }
        #expect(action == .prepare && upload.upload.nextOffset == 3)
    }

    @Test("A busy server is asked again after a pause, which gives up the exchange")
    func busy() throws {
        let (load, upload) = try retrieving()
        #expect(upload.continues(after: head(503)))
        guard case .paused? = load.steps.last else {
            Issue.record("the load pauses")
            return
        }
        #expect(load.withState { $0.handle } == nil)
        let early = load.withState { $0.pauseElapsed().action }
        let action = load.withState { $0.exchangeEnded(.failure(.cancelled)).action }
        #expect(early == .none && action == .prepare)
    }

    @Test("A lost upload fails; the final response and late responses are for the load")
    func responses() throws {
        let (load, upload) = try retrieving()
        #expect(upload.continues(after: head(404)))
        #expect(load.steps == [.failed(.connectionLost)])
        #expect(!upload.continues(after: head(404)))
        let other = FakeLoad(challenges: [])
        other.repeatExchange()
        #expect(!InterruptedUpload(load: other, upload: try .make()).continues(after: head(200)))
        #expect(other.steps.isEmpty)
    }
}
