import ArgumentParser
import Causeway
import CausewayHTTPServer
import CausewaySystem
import CausewayTypes
import FoundationEssentials

/// `nw serve upload`: stores files uploaded by browsers and programs.
struct ServeUploadCommand: ServerSubcommand {
    static let words = ["serve", "upload"]
    static let outline = CommandConfiguration(
        commandName: "serve upload",
        abstract: "Store files that are uploaded over HTTP.",
        usage: "nw serve upload [<options>] DIR",
        discussion: """
            POST /fileupload takes a form (multipart/form-data) with files and fields,
            PUT /fileupload/NAME one file as it is, and a browser gets a page with a form
            at /. The answer is a JSON object with the name, size and SHA-256 of each
            stored file, and with the fields. A file whose name exists gets a number.
            A request stores all of its files or, if it fails, none.

            Examples:
              nw serve upload inbox --port 8080
              nw upload photo.jpg http://localhost:8080
              curl -F file=@photo.jpg http://localhost:8080/fileupload
              nw serve upload inbox --port 8443 --tls --max-upload 100

            \(ExitCodeText.server(needs: "the port or the directory", ending: "requests in progress"))
            """)

    @Argument(help: ArgumentHelp("Store the files in this directory.", valueName: "dir"))
    var directory: String

    @OptionGroup var serving: HTTPServingOptions

    @Option(help: ArgumentHelp("Refuse requests of more than this many MiB.", valueName: "mebibytes"))
    var maxUpload = 1_024

    @Flag(help: "Print one JSON object per stored file.")
    var json = false

    func validate() throws {
        if !(1...1 << 40).contains(maxUpload) { throw ValidationError("--max-upload must be more than 0.") }
    }

    func run() async throws {
        try await reporting("serve") {
            let store = UploadStore(directory: directory)
            do { try store.prepare() } catch {
                throw CommandFailure("cannot store files in \(PrintableText(foreign: directory))", error)
            }
            var configuration = HTTPServer.Configuration()
            configuration.maximumContentLength = maxUpload << 20
            let routes = makeRoutes(store)
            try await serving.serve(configuration) { try await routes.respond(to: $0) }
        }
    }

    private func makeRoutes(_ store: UploadStore) -> HTTPServerRoutes {
        let report = report
        var routes = HTTPServerRoutes()
        routes.get("/") { _ in .html(Self.page) }
        routes.post("/fileupload") { request in
            guard let form = request.form else {
                throw HTTPServerError(status: 415, "send multipart/form-data, or PUT /fileupload/NAME")
            }
            return try report(try await store.store(form))
        }
        routes.put("/fileupload/{name}") { request in
            guard let name = HTTPServerFormPart.filename(request.parameters["name"] ?? "") else {
                throw HTTPServerError(status: 400, "malformed name")
            }
            // Every upload creates a new file. If-Match requires an existing file, so such a request fails (RFC 9110
            // §13.1.1).
            guard !request.fields.contains("If-Match") else { throw HTTPServerError(status: 412) }
            return try report(try await store.store(request.body, as: name, type: request.fields["Content-Type"]))
        }
        return routes
    }

    /// Prints the files that a request has stored, and returns the response.
    @Sendable private func report(_ receipt: UploadStore.Receipt) throws -> HTTPServerResponse {
        for file in receipt.files {
            let name = PrintableText(foreign: file.file)
            printLine(json ? PrintableText(json: file) : "\(name) \(Amounts.bytes(file.bytes)) SHA-256 \(file.sha256)")
        }
        return try .json(receipt, status: receipt.files.isEmpty ? 200 : 201)
    }

    private static let page = """
        <!doctype html>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width">
        <title>Upload</title>
        <h1>Upload</h1>
        <form action="/fileupload" method="post" enctype="multipart/form-data">
        <p><input type="file" name="file" multiple required></p>
        <p><button>Upload</button></p>
        </form>
        """
}
