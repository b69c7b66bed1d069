import ArgumentParser
import Causeway
import CausewayHTTPProtocols
import CausewayTypes
import CausewayWire
import FoundationEssentials

/// Request options for `nw http`.
struct HTTPRequestOptions: ParsableArguments {
    @Option(
        name: [.customShort("X"), .customLong("request")], help: ArgumentHelp("Use this method.", valueName: "method"))
    var method: String?

    @Option(
        name: [.customShort("H"), .customLong("header")],
        help: ArgumentHelp("Send this field; may be repeated. 'NAME:' removes a field.", valueName: "name:value"))
    var fields: [String] = []

    @Option(
        name: [.customShort("d"), .customLong("data"), .customLong("data-binary")],
        help: ArgumentHelp(
            "Send DATA as form data; @FILE sends a file, @- standard input. Repeated DATA is joined with &.",
            valueName: "data"))
    var data: [String] = []

    @Option(
        help: ArgumentHelp("Send DATA like -d, after it; @ has no meaning. May be repeated.", valueName: "data"))
    var dataRaw: [String] = []

    @Option(
        help: ArgumentHelp(
            "Send TEXT, NAME=TEXT, @FILE or NAME@FILE like -d, after it, with percent-encoding. May be repeated.",
            valueName: "data"))
    var dataUrlencode: [String] = []

    @Option(help: ArgumentHelp("Send DATA as JSON; @FILE sends a file, @- standard input.", valueName: "data"))
    var dataJson: String?

    @Flag(help: "Send NAME=VALUE items as a form instead of a JSON object; NAME@FILE adds a file.")
    var form = false

    @Option(
        name: [.customShort("F"), .customLong("multipart")],
        help: ArgumentHelp(
            "Send a form with this part; may be repeated. NAME=@FILE sends a file, NAME=<FILE its text; ;type=TYPE and ;filename=NAME may follow.",
            valueName: "name=text"))
    var forms: [String] = []

    @Flag(name: [.customShort("G"), .long], help: "Append -d and its kin to the URL as a query.")
    var get = false

    @Option(
        name: [.customShort("T"), .long],
        help: ArgumentHelp("Upload FILE with PUT; - uploads standard input.", valueName: "file"))
    var uploadFile: String?

    @Flag(name: [.customShort("I"), .long], help: "Request only the head of the response.")
    var head = false

    @Option(
        name: [.customShort("A"), .long], help: ArgumentHelp("Send this field User-Agent.", valueName: "name"))
    var userAgent: String?

    @Option(name: [.customShort("e"), .long], help: ArgumentHelp("Send this field Referer.", valueName: "url"))
    var referer: String?

    @Option(
        name: [.customShort("r"), .long],
        help: ArgumentHelp("Request these bytes, such as 0-99 or 500-.", valueName: "range"))
    var range: String?

    @Option(
        name: [.customShort("u"), .long],
        help: ArgumentHelp(
            "Answer a challenge of the URL's origin with Digest or Basic. Without PASSWORD, it is empty.",
            valueName: "user:password"))
    var user: String?

    @Flag(help: "Send the credential of -u with Basic, without a challenge.")
    var basic = false

    @OptionGroup var negotiation: NegotiationOptions

    @Option(help: ArgumentHelp("Send TOKEN as a bearer token to the URL's origin.", valueName: "token"))
    var bearer: String?

    @Option(
        name: [.customShort("b"), .long],
        help: ArgumentHelp(
            "Send cookies: NAME=VALUE;... or those of a file, which need not exist.", valueName: "cookies"))
    var cookie: [String] = []

    @Option(
        name: [.customShort("c"), .long],
        help: ArgumentHelp("Write all cookies to FILE at the end.", valueName: "file"))
    var cookieJar: String?

    @Flag(name: [.customShort("L"), .long], help: "Follow redirects.")
    var location = false

    @Option(help: ArgumentHelp("Follow at most COUNT redirects.", valueName: "count"))
    var maxRedirs = RedirectChain.defaultLimit

    @Flag(
        name: [.customShort("g"), .long], help: "Take {a,b} and [1-9] in the URL literally, not as several URLs.")
    var globoff = false

    @Option(
        help: ArgumentHelp(
            "Try again up to COUNT times after a lost or refused connection, a timeout or status 408, 429, 500, 502, 503 or 504.",
            valueName: "count"))
    var retry = 0

    @Option(
        help: ArgumentHelp("Wait SECONDS before --retry. (default: 1, 2, 4 ...)", valueName: "seconds"))
    var retryDelay: Double?

    @Flag(
        inversion: .prefixedNo,
        help: "Accept the content codings whose libraries are installed, and decode.")
    var compressed = true

    func validate() throws {
        let contents = [hasData && !get, dataJson != nil, uploadFile != nil, !forms.isEmpty].filter { $0 }
        guard contents.count <= 1 else { throw ValidationError("-d, --data-json, -F and -T cannot be combined.") }
        for word in forms where FormItem(word) == nil {
            throw ValidationError("'\(word)' is not a part of a form: expected NAME=TEXT, NAME=@FILE or NAME=<FILE.")
        }
        try negotiation.check(hasUser: user != nil)
        if basic, user == nil { throw ValidationError("--basic requires -u.") }
        if bearer != nil, user != nil { throw ValidationError("--bearer and -u cannot be combined.") }
        guard (0...1_000).contains(retry) else { throw ValidationError("--retry must be 0 to 1000.") }
        if let retryDelay, !(0...86_400).contains(retryDelay) {
            throw ValidationError("--retry-delay must be 0 to 86400 seconds.")
        }
        guard maxRedirs >= 0 else { throw ValidationError("--max-redirs must not be negative.") }
        if let range, ByteRange.parse("bytes=" + range) == nil {
            throw ValidationError("'\(range)' is not a range of bytes, such as 0-99.")
        }
        for field in fields {
            guard case .field(let name, let value)? = RequestItem(field), name.utf8.allSatisfy(HTTPCharacters.isToken),
                !value.utf8.contains(where: { $0 == 0 || $0 == 10 || $0 == 13 })
            else { throw ValidationError("'\(field)' is not a field of the form NAME:VALUE.") }
        }
    }

    /// Whether the command line contains data to send, in -d or a related option.
    var hasData: Bool { !RequestData(options: self).isEmpty }
}

/// Connection options for `nw http`.
struct HTTPConnectionOptions: ParsableArguments {
    @Option(name: [.customShort("x"), .long], help: ProxyChoice.help) var proxy: [String] = []

    @Option(
        help: ArgumentHelp("Connect to ADDRESS for HOST and PORT; may be repeated.", valueName: "host:port:address"))
    var resolve: [FixedAddress] = []

    @Flag(name: .customShort("4"), help: "Use IPv4 only.")
    var v4Only = false

    @Flag(name: .customShort("6"), help: "Use IPv6 only.")
    var v6Only = false

    @Flag(name: .customLong("http1.1"), help: "Offer only HTTP/1.1.")
    var http1 = false

    @Flag(
        name: [.customLong("http2"), .customLong("http2-prior-knowledge")],
        help: "Offer only HTTP/2; without TLS, use it without negotiation.")
    var http2 = false

    @Flag(
        name: [.customShort("k"), .long],
        help: "Accept any server certificate. An attacker can read and change all data.")
    var insecure = false

    @Option(
        name: [.long, .customLong("cacert")],
        help: ArgumentHelp("Trust only the authorities in FILE (PEM).", valueName: "file"))
    var ca: String?

    @Option(
        name: [.customShort("E"), .long],
        help: ArgumentHelp("Present the certificate in FILE, followed by its issuers (PEM).", valueName: "file"))
    var cert: String?

    @Option(
        help: ArgumentHelp(
            "Read the private key of --cert from FILE (PEM). (default: the --cert file)", valueName: "file"))
    var key: String?

    @Option(help: ArgumentHelp("Give up connecting after SECONDS.", valueName: "seconds"))
    var connectTimeout: Double?

    @Option(name: [.customShort("m"), .long], help: ArgumentHelp("Give up after SECONDS.", valueName: "seconds"))
    var maxTime: Double?

    /// The whole command's time limit; `nil` for none.
    var limit: Duration? { maxTime.map { .seconds($0) } }

    func validate() throws {
        if v4Only, v6Only { throw ValidationError("-4 and -6 cannot be combined.") }
        if http1, http2 { throw ValidationError("--http1.1 and --http2 cannot be combined.") }
        if insecure, ca != nil { throw ValidationError("--insecure and --ca cannot be combined.") }
        if key != nil, cert == nil { throw ValidationError("--key requires --cert.") }
        for limit in [connectTimeout, maxTime].compactMap({ $0 }) where !(limit > 0 && limit <= 1_000_000) {
            throw ValidationError("Time limits must be more than 0 and at most 1000000 seconds.")
        }
        try ProxyChoice(proxy, scheme: "https").check()
    }

    func route() throws -> HTTPRoute {
        var route = HTTPRoute()
        route.addressFamily = v4Only ? .v4 : v6Only ? .v6 : .any
        route.proxies = proxy
        route.fixedAddresses = resolve
        route.connectTimeout = connectTimeout.map { .seconds($0) }
        if http1 { route.applicationProtocols = ["http/1.1"] }
        if http2 { route.applicationProtocols = ["h2"] }
        route.usesPriorKnowledge = http2
        route.skipsVerification = insecure
        route.anchors = try ca.map(CertificateFiles.authorities)
        route.identity = try cert.map { try CertificateFiles.identity($0, key) }
        return route
    }
}

/// Output options for `nw http`.
struct HTTPOutputOptions: ParsableArguments {
    @Option(
        name: [.customShort("o"), .long],
        help: ArgumentHelp("Store the content in FILE; - writes it unchanged to standard output.", valueName: "file"))
    var output: String?

    @Flag(name: [.customShort("O"), .long], help: "Store the content in a file named as in the URL.")
    var remoteName = false

    @Option(
        name: [.customShort("C"), .long],
        help: ArgumentHelp("Continue a download at OFFSET; - continues at the end of the file.", valueName: "offset"))
    var continueAt: String?

    @Flag(name: [.customShort("i"), .long], help: "Print the head of the response before the content.")
    var include = false

    @Flag(
        name: [.customShort("f"), .long], help: "Fail with exit code 22 for status 400 and above, without the content.")
    var fail = false

    @Flag(name: [.customShort("s"), .long], help: "Show no progress bar.")
    var silent = false

    @Flag(name: [.customShort("S"), .long], help: "Accepted without effect: errors are always printed.")
    var showError = false

    @Flag(name: [.customShort("v"), .long], help: "Show heads and times on standard error.")
    var verbose = false

    @Flag(help: "Show queries, attempts, handshakes and the exchange on a timeline.")
    var timeline = false

    @Option(
        name: [.customShort("w"), .long],
        help: ArgumentHelp(
            "Print this after the content: text with variables of curl such as %{http_code}, and \\n; @FILE reads it.",
            valueName: "format"))
    var writeOut: String?

    @Flag(help: "Print one JSON object with the head, the times and the content, instead of the content.")
    var json = false

    @Option(help: ArgumentHelp("Store heads and times in FILE as an HTTP Archive (HAR 1.2).", valueName: "file"))
    var har: String?

    @Flag(help: "Print the request as a curl command, with credentials, and send nothing.")
    var curl = false

    func validate() throws {
        if output != nil, remoteName { throw ValidationError("-o and -O cannot be combined.") }
        if continueAt != nil, !remoteName, output == nil || output == "-" {
            throw ValidationError("-C requires a file: -o FILE or -O.")
        }
        if let continueAt, continueAt != "-", UInt64(continueAt).flatMap({ Int(exactly: $0) }) == nil {
            throw ValidationError("'\(continueAt)' is not an offset in bytes.")
        }
    }
}
