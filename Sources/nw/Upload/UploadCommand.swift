import ArgumentParser
import Causeway
import CausewayHTTP
import CausewayHTTPServer
import CausewayHTTPProtocols
import CausewayProtocols
import CausewayTypes
import CausewayWire
import FoundationEssentials

/// `nw upload`: uploads files over HTTP.
struct UploadCommand: Subcommand {
    static let outline = CommandConfiguration(
        commandName: "upload",
        abstract: "Upload files over HTTP, as a form or one by one.",
        usage: "nw upload [<options>] FILE... URL",
        discussion: """
            The files are sent with POST in one form (multipart/form-data), which is read \
            while it is sent. A URL without a path gets /fileupload, the path of nw serve \
            upload. With --put, each file is sent with PUT as it is; a URL that ends with / \
            gets its name. The response is printed. A status of 400 or above is a failure.

            Examples:
              nw upload photo.jpg http://localhost:8080
              nw upload -f album=Summer *.jpg https://example.com/photos
              nw upload --put report.pdf http://localhost:8080/

            \(ExitCodeText.transfer)
            """)

    @Option(
        name: [.customShort("f"), .long],
        help: ArgumentHelp("Add this field to the form; may be repeated.", valueName: "name=text"))
    var field: [String] = []

    @Option(help: ArgumentHelp("Use this name for the form's field of each file.", valueName: "name"))
    var name = "file"

    @Flag(help: "Send each file with PUT instead of a form.")
    var put = false

    @OptionGroup var transfer: TransferOptions

    @Option(help: ArgumentHelp("Send TOKEN as a bearer token to the URL's origin.", valueName: "token"))
    var bearer: String?

    @Flag(help: "Print one JSON object with the head, the times and the content of each response.")
    var json = false

    @OptionGroup(title: "Connection options") var connection: HTTPConnectionOptions

    @Argument(help: ArgumentHelp("Files to upload, followed by the URL.", valueName: "word"))
    var words: [String] = []

    func validate() throws {
        guard words.count >= 2 else { throw ValidationError("Specify FILE... URL.") }
        if put, !field.isEmpty { throw ValidationError("-f requires a form: remove --put.") }
        if bearer != nil, transfer.user != nil { throw ValidationError("--bearer and -u cannot be combined.") }
        let (target, _) = try HTTPPlan.target(words[words.count - 1])
        if put, words.count > 2, !target.path.hasSuffix("/") {
            throw ValidationError("With --put, a URL for several files must end with /.")
        }
        for word in field where FormItem(word) == nil { throw ValidationError("'\(word)' is not NAME=TEXT.") }
    }

    func run() async throws {
        try await reporting("upload") {
            do {
                let limit = connection.limit
                let starts = try starts()
                let route = try connection.route()
                let output = output
                try await untilInterrupted {
                    for start in starts {
                        let session = HTTPSession(
                            start: start, route: route, cookies: [],
                            destination: ContentDestination(place: json ? .memory : .automatic),
                            output: output)
                        try await session.run(within: limit)
                    }
                }
            } catch let failure as HTTPCommandFailure {
                printError("nw: upload: \(failure.message)")
                throw ExitCode(failure.code.rawValue)
            }
        }
    }

    private var output: HTTPOutput {
        var output = HTTPOutput()
        output.failsForStatus = true
        output.isUpload = true
        output.summary = json ? .json : .none
        output.commentary = transfer.quiet ? .none : .progressBar
        return output
    }

    /// Returns the requests: one for each file with PUT, otherwise one for a form with all files.
    private func starts() throws -> [HTTPConversation.Start] {
        let (target, credential) = try HTTPPlan.target(words[words.count - 1])
        let files = words.dropLast()
        if put { return files.map { start("PUT", Self.target(target, file: $0), .file($0), nil, credential) } }
        let items = field.compactMap { FormItem($0) } + files.map { FormItem(name: name, file: $0) }
        let form = try RequestForm(items)
        var place = target
        if place.path.isEmpty || place.path == "/" { place.path = "/fileupload" }
        return [start("POST", place, .form(form), form.boundary.formType, credential)]
    }

    /// Returns the URL for a file. This is the command's URL, with the file name appended if the URL ends with a slash.
    private static func target(_ target: URIReference, file path: String) -> URIReference {
        var target = target
        if target.path.isEmpty { target.path = "/" }
        guard target.path.hasSuffix("/") else { return target }
        target.path += PercentCoding.encoded(path.split(separator: "/").last.map(String.init) ?? path)
        return target
    }

    private func start(
        _ method: String, _ target: URIReference, _ content: RequestContent, _ type: String?,
        _ credential: PasswordCredential?
    ) -> HTTPConversation.Start {
        var fields = FieldSection()
        if let type { fields.append("Content-Type", type) }
        if let bearer { fields.append("Authorization", "Bearer " + bearer) }
        var start = HTTPConversation.Start(
            request: RedirectableRequest(method: method, target: target, fields: fields, hasContent: true))
        start.content = content
        start.credential = transfer.credential ?? credential
        start.scheme = transfer.negotiation.scheme
        start.followsRedirects = true
        return start
    }
}
