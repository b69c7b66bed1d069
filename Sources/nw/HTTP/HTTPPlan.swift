import ArgumentParser
import Causeway
import CausewayHTTPProtocols
import CausewayProtocols
import CausewayTypes
import CausewayWire
import FoundationEssentials

/// The request described by the arguments and options of `nw http`.
struct HTTPPlan {
    let method: String
    let target: URIReference
    private let items: [RequestItem]
    private let userInformation: PasswordCredential?

    /// - Throws: `ValidationError` for an invalid URL or item.
    init(_ words: RequestWords, _ options: HTTPRequestOptions) throws {
        var target: URIReference
        (target, userInformation) = try Self.target(words.url)
        items = try words.items.map { word in
            guard let item = RequestItem(word) else {
                throw ValidationError(
                    "'\(PrintableText(foreign: word).text)' is not an item: expected NAME:VALUE, NAME==VALUE, NAME=VALUE, NAME:=JSON or NAME@FILE."
                )
            }
            return item
        }
        var queries = [target.query, ItemContent.query(items)]
        if options.get { queries.append(try Self.query(options)) }
        let query = queries.compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: "&")
        target.query = query.isEmpty ? target.query : query
        self.target = target
        method = Self.method(words, options, hasItems: Self.hasContent(items))
        guard method.utf8.allSatisfy(HTTPCharacters.isToken), method != "CONNECT" else {
            throw ValidationError(
                "'\(PrintableText(foreign: method).text)' is not a method that this command can send.")
        }
        try check(options)
    }

    /// Parses a URL and removes the credential from it.
    static func target(_ word: String) throws -> (URIReference, PasswordCredential?) {
        guard var target = URIReference(RequestWords.absolute(word)), HTTPOrigin(target) != nil,
            target.scheme == "http" || target.scheme == "https"
        else {
            let hint = word.hasPrefix("{") ? " Send JSON with --data-json." : ""
            throw ValidationError("'\(PrintableText(foreign: word).text)' is not an http or https URL.\(hint)")
        }
        let credential = target.authority?.credential
        target.authority?.userInformation = nil
        target.fragment = nil
        return (target, credential)
    }

    private static func query(_ options: HTTPRequestOptions) throws -> String {
        do { return try RequestData(options: options).query() } catch let failure as HTTPCommandFailure {
            throw ValidationError(failure.message.text)
        }
    }

    private static func hasContent(_ items: [RequestItem]) -> Bool {
        items.contains { item in
            switch item {
            case .text, .json, .file: true
            case .field, .query: false
            }
        }
    }

    private static func method(_ words: RequestWords, _ options: HTTPRequestOptions, hasItems: Bool) -> String {
        if let method = words.method ?? options.method { return method }
        if options.head { return "HEAD" }
        if options.uploadFile != nil { return "PUT" }
        let hasData = options.hasData && !options.get || options.dataJson != nil || !options.forms.isEmpty
        return hasItems || hasData ? "POST" : "GET"
    }

    private func check(_ options: HTTPRequestOptions) throws {
        guard Self.hasContent(items) else { return }
        if options.hasData && !options.get || options.dataJson != nil || options.uploadFile != nil
            || !options.forms.isEmpty
        {
            throw ValidationError("NAME=VALUE items cannot be combined with -d, --data-json, -F or -T.")
        }
        if !options.form, case .file(let name, let path)? = items.first(where: \.isFile) {
            throw ValidationError("\(name)@\(path) requires --form.")
        }
        for case .json(let name, let value) in items where options.form || !ItemContent.isJSON(value) {
            throw ValidationError(
                options.form
                    ? "A form has no JSON values: use \(name)=VALUE." : "The value of \(name):= is not JSON.")
        }
    }

    // MARK: The request

    /// Returns the first request. Reads the files named by -d.
    func start(_ options: HTTPRequestOptions) throws -> HTTPConversation.Start {
        let (content, type) = try content(options)
        var fields = FieldSection()
        let given = options.fields.compactMap(RequestItem.init) + items
        for case .field(let name, let value) in given {
            fields.append(name, String(value.drop { $0 == " " || $0 == "\t" }))
        }
        func add(_ name: String, _ value: String?) {
            if let value, !fields.contains(name) { fields.append(name, value) }
        }
        add("Content-Type", type)
        if type == "application/json" { add("Accept", "application/json, */*;q=0.5") }
        add("User-Agent", options.userAgent)
        add("Referer", options.referer)
        add("Range", options.range.map { "bytes=" + $0 })
        add("Authorization", options.bearer.map { "Bearer " + $0 })
        var start = HTTPConversation.Start(
            request: RedirectableRequest(
                method: method, target: target, fields: fields, hasContent: content.isPresent))
        start.content = content
        start.credential = Self.credential(options.user) ?? userInformation
        start.sendsCredentialFirst = options.basic
        start.scheme = options.negotiation.scheme
        start.followsRedirects = options.location
        start.redirectLimit = options.maxRedirs
        start.acceptsCodings = options.compressed
        return start
    }

    /// Parses the -u value.
    static func credential(_ text: String?) -> PasswordCredential? {
        guard let text else { return nil }
        let parts = text.unicodeScalars.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        return PasswordCredential(username: String(parts[0]), password: parts.count > 1 ? String(parts[1]) : "")
    }

    /// Returns the content and its media type.
    private func content(_ options: HTTPRequestOptions) throws -> (RequestContent, String?) {
        if let path = options.uploadFile { return (path == "-" ? .standardInput : .file(path), nil) }
        if let json = options.dataJson { return (RequestData.content(json), "application/json") }
        let form = "application/x-www-form-urlencoded"
        if options.hasData, !options.get { return (try RequestData(options: options).content(), form) }
        if !options.forms.isEmpty { return try Self.form(options.forms.compactMap { FormItem($0) }) }
        guard Self.hasContent(items) else { return (.none, nil) }
        if options.form, items.contains(where: \.isFile) { return try Self.form(items.compactMap { FormItem($0) }) }
        if options.form { return (.data(ItemContent.form(items)), form) }
        return (.data(ItemContent.json(items) ?? Data()), "application/json")
    }

    private static func form(_ items: [FormItem]) throws -> (RequestContent, String?) {
        let form = try RequestForm(items)
        return (.form(form), form.boundary.formType)
    }

    /// Returns the cookies from -b, which names a cookie file or lists `NAME=VALUE` pairs. Cookies from a list are sent
    /// only to the URL's host.
    func cookies(_ options: HTTPRequestOptions) throws -> [Cookie] {
        guard let context = CookieContext(target) else { return [] }
        return try options.cookie.flatMap { text -> [Cookie] in
            guard text.contains("=") else { return CookieFile.parse(try Self.read(text)) }
            return text.split(separator: ";").compactMap { pair in
                let parts = pair.trimmed.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                guard parts.count == 2 else { return nil }
                return Cookie(
                    name: Array(parts[0].utf8), value: Array(parts[1].utf8), domain: context.host,
                    isSecure: context.isSecure)
            }
        }
    }

    /// Reads a cookie file of at most 1 MiB.
    private static func read(_ path: String) throws -> String {
        do {
            let file = try OpenFile(reading: path)
            var content = Data()
            while content.count < 1 << 20, let piece = try file.readChunk(atMost: 64 << 10) { content += piece }
            return String(decoding: content, as: UTF8.self)
        } catch NWError.posix(.ENOENT) {
            // A missing file is not an error. The same file can be named for both -b and -c, and it does not exist
            // before the first run.
            printError("nw: http: \(PrintableText(foreign: path)) does not exist: no cookies are sent")
            return ""
        } catch {
            throw HTTPCommandFailure(.read, "cannot read \(path): \(describe(error))")
        }
    }

    // MARK: The destination

    /// Returns where to write the content, and where a download continues.
    func destination(_ options: HTTPOutputOptions) throws -> ContentDestination {
        var path = options.output == "-" ? nil : options.output
        if options.remoteName { path = try nameInURL() }
        guard let path else {
            if options.json { return ContentDestination(place: .memory) }
            return ContentDestination(place: options.output == "-" ? .standardOutput : .automatic)
        }
        var destination = ContentDestination(place: .file(path), isNameFromURL: options.remoteName)
        guard let offset = options.continueAt else { return destination }
        var position = UInt64(offset) ?? 0
        if offset == "-", let file = try? OpenFile(reading: path), case .regular(let count) = file.kind {
            position = count
        }
        if position > 0 { destination.place = .rest(path, from: position) }
        return destination
    }

    private func nameInURL() throws -> String {
        let name = target.path.split(separator: "/", omittingEmptySubsequences: false).last.map(String.init) ?? ""
        guard !name.isEmpty, name != ".", name != ".." else {
            throw HTTPCommandFailure(.write, "the URL has no file name for -O; use -o FILE")
        }
        return name
    }
}

extension StringProtocol {
    /// The text without leading and trailing spaces and tabs.
    fileprivate var trimmed: SubSequence {
        var text = self[...]
        while let first = text.first, first == " " || first == "\t" { text = text.dropFirst() }
        while let last = text.last, last == " " || last == "\t" { text = text.dropLast() }
        return text
    }
}
