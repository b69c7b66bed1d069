import ArgumentParser
import Causeway
import CausewayHTTPServer
import CausewaySystem
import CausewayTypes
import CausewayWire

/// `nw serve http`: serves the files in a directory.
struct ServeHTTPCommand: ServerSubcommand {
    static let words = ["serve", "http"]
    static let outline = CommandConfiguration(
        commandName: "serve http",
        abstract: "Serve the files of a directory over HTTP.",
        usage: "nw serve http [<options>] DIR",
        discussion: """
            HTTP/1.1 and HTTP/2, with ranges and conditional requests. A directory with
            a file index.html shows that file, any other directory a list of its files.
            Names that begin with a dot are hidden. Symbolic links are not followed.
            Standard error gets one line per request: client, request, status, bytes,
            time, and the reason of a failure. The status is - if the client was gone.

            Examples:
              nw serve http . --port 8080
              nw serve http site --port 0 --host 127.0.0.1
              nw serve http inbox --port 8080 --upload
              curl -T report.pdf http://localhost:8080/
              nw serve http . --port 8443 --tls
              nw serve http . --port 8080 --advertise "My files"

            \(ExitCodeText.server(needs: "the port or the directory", ending: "requests in progress"))
            """)

    @Argument(help: ArgumentHelp("Serve the files of this directory.", valueName: "dir"))
    var directory: String

    @OptionGroup var serving: HTTPServingOptions

    @Flag(help: "Let clients create files with PUT. Existing files are never replaced.")
    var upload = false

    @Option(help: ArgumentHelp("Refuse uploads of more than this many MiB.", valueName: "mebibytes"))
    var maxUpload = 1_024

    func validate() throws {
        if !(1...1 << 40).contains(maxUpload) { throw ValidationError("--max-upload must be more than 0.") }
    }

    func run() async throws {
        try await reporting("serve") {
            var options: HTTPServerDirectory.Options = [.listing]
            if upload { options.insert(.uploads) }
            let files: HTTPServerDirectory
            do throws(HTTPServerError) {
                files = try HTTPServerDirectory(directory, options: options)
            } catch {
                let reason: PrintableText = error.status == 403 ? "Permission denied" : "No such directory"
                throw CommandFailure("cannot serve \(PrintableText(foreign: directory)): \(reason)")
            }
            var configuration = HTTPServer.Configuration()
            // Without uploads, the server refuses a PUT request before it reads the content. So no limit for request
            // content is necessary.
            configuration.maximumContentLength = upload ? maxUpload << 20 : nil
            try await serving.serve(configuration) { request in
                guard let path = request.decodedPath else { throw HTTPServerError(status: 400, "malformed path") }
                return try await files.respond(to: request, path: path)
            }
        }
    }
}

extension HTTPServerRequest {
    /// The percent-decoded path without its first slash; `nil` if the path is malformed.
    fileprivate var decodedPath: String? {
        guard path.hasPrefix("/") else { return nil }
        return PercentCoding.decoded(path.dropFirst())
    }
}
