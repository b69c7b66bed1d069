import ArgumentParser
import Causeway
import CausewayProtocols
import CausewayTypes
import CausewayWire
import FoundationEssentials

/// `nw http`: sends an HTTP request and prints or stores the response.
struct HTTPCommand: Subcommand {
    static let outline = CommandConfiguration(
        commandName: "http",
        abstract: "Send an HTTP request, and print or store the response.",
        usage: "nw http [<options>] [METHOD] URL [ITEM...]",
        discussion: """
            An ITEM is NAME:VALUE (a field), NAME==VALUE (a query parameter), NAME=VALUE or NAME:=JSON (members of a \
            JSON object, or a form with --form, which can have files as NAME@FILE). The method is POST if there is content. The scheme may be missing \
            (http), and :8080 means this host. On a terminal, JSON is indented and control characters are escaped.

            Credentials and cookies are sent to their origin only, also after a redirect. -u waits for a challenge, \
            so that a password is never sent unasked; --basic sends it at once. The exit codes are those of curl.

            Examples:
              nw http example.com                       print a page
              nw http -v https://example.com            show heads and times
              nw http POST :8080/users name=Ann age:=7  send a JSON object
              nw http -d 'a=1' -d 'b=2' :8080/form      send form data
              nw http -F file=@a.jpg -F x=1 :8080/form  send a form with a file
              nw http -LO https://example.com/a.iso     store a file
              nw http -C - -o a.iso http://host/a.iso   continue a download
              nw http -T a.iso http://host/a.iso        upload a file
              tar c . | nw http -T - http://host/a.tar  upload a stream
              nw http -u ann:secret http://host/        Digest or Basic
              nw http --json -I https://example.com     one JSON object
              nw http --curl :8080/users name=Ann       the same for curl

            Exit codes:
              0       success, with any status (see --fail)
              1       another failure; standard error has the reason
              6       the name cannot be resolved
              7       no connection
              8       the response is not valid HTTP
              18      the connection ended inside the content
              22      status 400 or above, with --fail
              23, 26  output or input failed
              28      a time limit has passed
              33      the server cannot continue a download
              35, 60  the TLS handshake failed; the server is not trusted
              47      too many redirects
              52      the server closed the connection without a response
              61, 63  the content cannot be decoded; it is too large
              64      usage error
              130, 143  ended by SIGINT or SIGTERM
            """)

    @OptionGroup(title: "Request options") var request: HTTPRequestOptions
    @OptionGroup(title: "Connection options") var connection: HTTPConnectionOptions
    @OptionGroup(title: "Output options") var output: HTTPOutputOptions

    @Argument(help: ArgumentHelp("METHOD, URL and items.", valueName: "word"))
    var words: [String] = []

    func validate() throws { _ = try plan() }

    func run() async throws {
        let plan = try plan()
        try await reporting("http") {
            do {
                let start = try plan.start(request)
                guard !output.curl else { return printLine(PrintableText(foreign: start.curlCommand)) }
                let session = HTTPSession(
                    start: start, route: try connection.route(), cookies: try plan.cookies(request),
                    destination: try plan.destination(output), output: HTTPOutput(output, request))
                let limit = connection.limit
                try await untilInterrupted { try await session.run(within: limit) }
            } catch let failure as HTTPCommandFailure {
                printError("nw: http: \(failure.message)")
                throw ExitCode(failure.code.rawValue)
            }
        }
    }

    /// Validates the positional arguments, and builds the request from the arguments and options.
    private func plan() throws -> HTTPPlan {
        guard let words = RequestWords(words) else { throw ValidationError("Specify a URL.") }
        return try HTTPPlan(words, request)
    }
}
