import CausewayWire
import Testing

@testable import CausewayHTTPProtocols
@testable import CausewayProtocols

@Suite("Resumable uploads (draft-ietf-httpbis-resumable-upload)")
struct ResumableUploadTests {
    private func fields(_ pairs: (String, String)...) -> FieldSection {
        var section = FieldSection()
        for (name, value) in pairs { section.append(name, value) }
        return section
    }

    private func request() throws -> RedirectableRequest {
        RedirectableRequest(
            method: "POST", target: try #require(URIReference("https://a.example/files?q")),
            fields: fields(("Authorization", "Basic eDp5"), ("Content-Type", "image/png")), hasContent: true)
    }

    /// Returns an upload for which the server has already named an upload resource.
    private func begun(length: Int64? = 100, version: String = "6", mayStartOver: Bool = true) throws
        -> ResumableUpload
    {
        var upload = ResumableUpload(length: length, mayStartOver: mayStartOver)
        upload.informed(
            status: 104, fields: fields(("Upload-Draft-Interop-Version", version), ("Location", "/u/1")),
            target: try request().target)
        #expect(upload.resource == URIReference("https://a.example/u/1"))
        return upload
    }

    @Test("The first request has the fields of its version")
    func creation() throws {
        for (version, name, value) in [
            (UploadVersion.three, "Upload-Incomplete", "?0"), (.five, "Upload-Complete", "?1"),
            (.six, "Upload-Complete", "?1"),
        ] {
            var value1 = try request()
            ResumableUpload(length: 100, mayStartOver: true, version: version).apply(to: &value1)
            #expect(value1.method == "POST" && value1.hasContent)
            #expect(value1.fields.onlyValue(of: name) == value)
            #expect(value1.fields.onlyValue(of: "Upload-Draft-Interop-Version") == "\(version.rawValue)")
            #expect(value1.fields.onlyValue(of: "Upload-Length") == (version == .six ? "100" : nil))
            #expect(value1.fields.onlyValue(of: "Content-Type") == "image/png")
        }
    }

    @Test("After a broken connection, the upload asks for the offset and sends the rest", arguments: ["3", "5", "6"])
    func continues(version: String) throws {
        var upload = try begun(version: version)
        #expect(upload.connectionBroke() == .send(after: .milliseconds(200)))
        var asked = try request()
        upload.apply(to: &asked)
        #expect(asked.method == "HEAD" && !asked.hasContent && asked.target.path == "/u/1")
        #expect(!asked.fields.contains("Content-Type") && asked.fields.contains("Authorization"))
        #expect(!asked.fields.contains("Upload-Offset") && !asked.fields.contains("Upload-Complete"))

        let answer = fields(
            ("Upload-Offset", "40"), version == "3" ? ("Upload-Incomplete", "?1") : ("Upload-Complete", "?0"))
        #expect(upload.answered(status: 204, fields: answer) == .send(after: .zero))
        var rest = try request()
        upload.apply(to: &rest)
        #expect(rest.method == "PATCH" && rest.hasContent && rest.target.path == "/u/1")
        #expect(rest.fields.onlyValue(of: "Upload-Offset") == "40")
        #expect(rest.fields.onlyValue(of: "Content-Type") == (version == "6" ? "application/partial-upload" : nil))
        #expect(
            rest.fields.onlyValue(of: version == "3" ? "Upload-Incomplete" : "Upload-Complete")
                == (version == "3" ? "?0" : "?1"))
        #expect(upload.answered(status: 201, fields: fields()) == .deliver)
    }

    @Test("Content of unknown length has no Upload-Length, and goes on at the offset of the server")
    func unknownLength() throws {
        var upload = try begun(length: nil)
        var first = try request()
        upload.apply(to: &first)
        #expect(first.hasContent && !first.fields.contains("Upload-Length"))
        #expect(first.fields.onlyValue(of: "Upload-Complete") == "?1")
        for offset in [40, 9_000_000_000] as [Int64] {
            #expect(upload.connectionBroke() == .send(after: .milliseconds(200)))
            let answer = fields(("Upload-Offset", "\(offset)"), ("Upload-Complete", "?0"))
            #expect(upload.answered(status: 204, fields: answer) == .send(after: .zero))
            #expect(upload.request == .appending(from: offset))
            var rest = try request()
            upload.apply(to: &rest)
            #expect(rest.method == "PATCH" && rest.hasContent && !rest.fields.contains("Upload-Length"))
        }
    }

    @Test("Without a resource, a broken connection is the end")
    func unsupported() {
        var upload = ResumableUpload(length: 100, mayStartOver: true)
        #expect(upload.connectionBroke() == .fail)
    }

    @Test("A resource of another origin, a response other than 104 and several locations are ignored")
    func untrustedResource() throws {
        let target = try request().target
        for (status, all) in [
            (104, fields(("Location", "https://b.example/u/1"))), (104, fields(("Location", "http://a.example/u/1"))),
            (104, fields(("Location", "https://a.example:444/u/1"))), (104, fields(("Location", "ftp://a.example/"))),
            (104, fields(("Location", "/1"), ("Location", "/2"))), (104, fields()),
            (103, fields(("Location", "/u/1"))), (104, fields(("Location", "https://a.example:99999/"))),
        ] {
            var upload = ResumableUpload(length: 100, mayStartOver: true)
            upload.informed(status: status, fields: all, target: target)
            #expect(upload.resource == nil, "\(all)")
        }
    }

    @Test("The upload fails after five failures in a row, with growing delays; progress starts the count again")
    func attempts() throws {
        var upload = try begun()
        let delays = (0..<4).map { _ in upload.connectionBroke() }
        #expect(delays == [200, 800, 3_200, 10_000].map { .send(after: .milliseconds($0)) })
        #expect(upload.answered(status: 204, fields: fields(("Upload-Offset", "10"))) == .send(after: .zero))
        for _ in 0..<5 { #expect(upload.connectionBroke() != .fail) }
        // The server reports the same offset as before. So the upload has made no progress.
        #expect(upload.answered(status: 204, fields: fields(("Upload-Offset", "10"))) == .send(after: .zero))
        #expect(upload.connectionBroke() == .fail)
    }

    @Test("A server that is busy is asked again; one that fails for ever is a failure")
    func busy() throws {
        var upload = try begun()
        _ = upload.connectionBroke()
        for status in [500, 503, 429, 502] { #expect(upload.answered(status: status, fields: fields()) != .fail) }
        #expect(upload.request == .retrieval)
        #expect(upload.answered(status: 503, fields: fields()) == .fail)
    }

    @Test("If the server has everything, the response to the question is the one of the upload")
    func responseLost() throws {
        for name in [("Upload-Complete", "?1"), ("Upload-Incomplete", "?0")] {
            var upload = try begun()
            _ = upload.connectionBroke()
            #expect(upload.answered(status: 204, fields: fields(name, ("Upload-Offset", "100"))) == .deliver)
        }
    }

    @Test("A forgotten upload starts over twice at most, and only with the permission of the program")
    func startsOver() throws {
        var upload = try begun()
        for _ in 0..<2 {
            _ = upload.connectionBroke()
            #expect(upload.answered(status: 404, fields: fields()) == .send(after: .zero))
            #expect(upload.request == .creation && upload.resource == nil)
            upload.informed(status: 104, fields: fields(("Location", "/u/2")), target: try request().target)
        }
        _ = upload.connectionBroke()
        #expect(upload.answered(status: 404, fields: fields()) == .fail)

        var once = try begun(mayStartOver: false)
        _ = once.connectionBroke()
        #expect(once.answered(status: 404, fields: fields()) == .fail)
        let resource = try #require(URIReference("https://a.example/u/1"))
        var continued = ResumableUpload(continuing: resource, length: nil, version: .six)
        #expect(continued.request == .retrieval)
        #expect(continued.answered(status: 410, fields: fields()) == .send(after: .zero))
        #expect(continued.request == .creation)
    }

    @Test("An offset beyond the content, a negative one or none is not used")
    func badOffset() throws {
        for text in ["101", "-1", "", "1.5", "x", "9999999999999999", "1, 2"] {
            var upload = try begun(mayStartOver: false)
            _ = upload.connectionBroke()
            #expect(upload.answered(status: 204, fields: fields(("Upload-Offset", text))) == .fail, "\(text)")
        }
    }

    @Test("A lower offset than before means that the server has lost the upload")
    func lowerOffset() throws {
        var upload = try begun(mayStartOver: false)
        _ = upload.connectionBroke()
        #expect(upload.answered(status: 204, fields: fields(("Upload-Offset", "10"))) == .send(after: .zero))
        _ = upload.connectionBroke()
        #expect(upload.answered(status: 204, fields: fields(("Upload-Offset", "5"))) == .fail)
    }

    @Test("An upload whose offset rises and falls ends")
    func alternatingOffset() throws {
        var upload = try begun()
        let target = try request().target
        var decision = upload.connectionBroke()
        var count = 0
        while decision != .fail, count < 200 {
            count += 1
            switch upload.request {
            case .retrieval:
                let offset = count % 4 < 2 ? "5" : "10"
                decision = upload.answered(status: 204, fields: fields(("Upload-Offset", offset)))
            case .creation:
                upload.informed(status: 104, fields: fields(("Location", "/u/\(count)")), target: target)
                decision = upload.connectionBroke()
            case .appending: decision = upload.connectionBroke()
            }
        }
        #expect(decision == .fail && count < 200)
    }

    @Test("A conflict asks for the offset again")
    func conflict() throws {
        var upload = try begun()
        _ = upload.connectionBroke()
        _ = upload.answered(status: 204, fields: fields(("Upload-Offset", "40")))
        #expect(upload.answered(status: 409, fields: fields(("Upload-Offset", "60"))) != .deliver)
        #expect(upload.request == .retrieval)
        #expect(upload.answered(status: 204, fields: fields(("Upload-Offset", "60"))) == .send(after: .zero))
        #expect(upload.request == .appending(from: 60))
    }

    @Test("Items of structured fields (RFC 9651 §4.2)")
    func items() {
        #expect(UploadFields.integer(" 12 ;a=1") == 12 && UploadFields.integer("0") == 0)
        #expect(UploadFields.integer("999999999999999") == 999_999_999_999_999)
        #expect(UploadFields.integer("+1") == nil && UploadFields.integer("1 2") == nil)
        #expect(UploadFields.boolean("?1") == true && UploadFields.boolean("?0;x") == false)
        #expect(UploadFields.boolean("1") == nil && UploadFields.boolean("?2") == nil)
    }
}
