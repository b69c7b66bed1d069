import ArgumentParser
import Causeway
import CausewayHTTPProtocols
import CausewayProtocols
import CausewayTypes
import CausewayWire
import FoundationEssentials
import Synchronization

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
              nw http -O 'http://host/[01-20].{jpg,txt}'  store 40 files
              nw http -sw '%{http_code}\\n' -o page :8080  print the status
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
              8       the response is not valid HTTP, or the server reset the request
              18      the connection ended inside the content
              22      status 400 or above, with --fail
              23, 26  output or input failed
              28      a time limit has passed
              33      the server cannot continue a download
              35, 60  the TLS handshake failed; the server is not trusted
              47      too many redirects
              52      the server closed the connection without a response
              56      a proxy refused the user name or the password, or demands
                      them
              61, 63  the content cannot be decoded; it is too large
              64      usage error
              130, 143  ended by SIGINT or SIGTERM
            """)

    @OptionGroup(title: "Request options") var request: HTTPRequestOptions
    @OptionGroup(title: "Connection options") var connection: HTTPConnectionOptions
    @OptionGroup(title: "Output options") var output: HTTPOutputOptions

    @Argument(help: ArgumentHelp("METHOD, URL and items.", valueName: "word"))
    var words: [String] = []

    func validate() throws {
        guard let words = RequestWords(words) else { throw ValidationError("Specify a URL.") }
        let glob = URLGlob(words.url)
        if !request.globoff, glob.count > URLGlob.limit {
            throw ValidationError("The URL stands for more than \(URLGlob.limit) URLs.")
        }
        let urls = matches(of: words)
        if urls.count > 1 {
            if output.har != nil { throw ValidationError("--har requires a single URL.") }
            if let file = output.output, file != "-", Set(urls.map { $0.filled(file) }).count < urls.count {
                throw ValidationError("-o FILE stores several URLs in one file: put #1 into its name, or use -O.")
            }
        }
        for match in urls { _ = try plan(words, match) }
        do throws(WriteOut.InvalidTemplate) {
            // If the template is in a file, it is read and checked only when the command runs.
            if let template = output.writeOut, !template.hasPrefix("@") { _ = try WriteOut(template) }
        } catch { throw ValidationError(error.message) }
    }

    func run() async throws {
        guard let words = RequestWords(words) else { return }
        try await reporting("http") {
            var cookies: [Cookie]?
            var last: HTTPCommandFailure?
            for match in matches(of: words) {
                do {
                    cookies = try await transfer(try plan(words, match), match, cookies)
                } catch let failure as HTTPCommandFailure {
                    printError("nw: http: \(failure.message)")
                    last = failure
                }
            }
            if let last { throw ExitCode(last.code.rawValue) }
        }
    }

    /// Transfers one URL. Returns the cookies as they are after the transfer. Returns `nil` if nothing was sent.
    private func transfer(_ plan: HTTPPlan, _ match: URLGlob.Match, _ cookies: [Cookie]?) async throws -> [Cookie]? {
        let start = try plan.start(request)
        guard !output.curl else {
            printLine(PrintableText(foreign: start.curlCommand))
            return nil
        }
        var files = output
        files.output = output.output.map { match.filled($0) }
        let settings: HTTPOutput
        do { settings = try HTTPOutput(output, request) } catch let error as WriteOut.InvalidTemplate {
            throw HTTPCommandFailure(.read, PrintableText(foreign: error.message))
        }
        let session = HTTPSession(
            start: start, route: try connection.route(), cookies: try cookies ?? plan.cookies(request),
            destination: try plan.destination(files), output: settings)
        let limit = connection.limit
        let result = FinalCookies()
        try await untilInterrupted {
            let found = try await session.run(within: limit)
            result.cookies.withLock { $0 = found }
        }
        return result.cookies.withLock { $0 }
    }

    /// The URLs to which the patterns in the argument expand.
    private func matches(of words: RequestWords) -> [URLGlob.Match] {
        request.globoff ? [URLGlob.Match(url: words.url, choices: [])] : URLGlob(words.url).matches
    }

    /// Validates the positional arguments, and builds a request from the arguments and options.
    private func plan(_ words: RequestWords, _ match: URLGlob.Match) throws -> HTTPPlan {
        var words = words
        words.url = match.url
        return try HTTPPlan(words, request)
    }
}

/// The cookies that remain at the end of a transfer. The next transfer starts with these cookies.
private final class FinalCookies: Sendable {
    let cookies = Mutex<[Cookie]?>(nil)
}
