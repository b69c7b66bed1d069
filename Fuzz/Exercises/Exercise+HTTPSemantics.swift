internal import CausewayHTTPProtocols
internal import CausewayProtocols
internal import CausewayWire

extension Exercise {
    /// Parses lines as a server's challenges, and answers them. Checks that no answer can inject a field or a
    /// parameter.
    ///
    /// - Returns: The number of answered challenges.
    @discardableResult
    public static func challenges(_ bytes: [UInt8]) -> Int {
        let values = bytes.split(separator: 0x0A).map { String(decoding: $0, as: UTF8.self) }
        let found = AuthenticationChallenge.parse(values)
        precondition(found.count <= AuthenticationChallenge.maximumCount)
        for challenge in found { precondition(HTTPCharacters.isToken(challenge.scheme.utf8), "scheme") }
        guard let target = URIReference("https://a.example/dir/page") else { preconditionFailure("target") }
        let authority = ProtectionSpace.Authority.origin(HTTPOrigin(isSecure: true, host: "a.example"))
        let credential = PasswordCredential(
            username: "user", password: String(decoding: bytes.prefix(9), as: UTF8.self))
        let request = DigestRequest(method: "GET", target: target.originForm)
        var (cache, count) = (AuthorizationCache(), 0)
        for challenge in AuthenticationChallenge.answerable(found) {
            guard
                let value = cache.answer(
                    challenge, in: authority, with: credential, request: request, target: target, clientNonce: "c")
            else { continue }
            count += 1
            precondition(value.utf8.allSatisfy(HTTPCharacters.isFieldValue), "control characters")
            check(value, of: challenge)
            let space = ProtectionSpace(authority: authority, challenge: challenge)
            for text in values { _ = cache.received(information: text, in: space) }
            let next = cache.authorization(for: request, path: target.path, at: authority, clientNonce: "d")
            precondition(next?.value.utf8.allSatisfy(HTTPCharacters.isFieldValue) ?? true, "control characters")
        }
        ntlm(bytes)
        for challenge in found {
            if let token = challenge.token.flatMap({ Base64.decode($0.utf8) }) { ntlm(token) }
        }
        var attempts = AuthenticationAttempts(limit: 3)
        var last = AuthenticationAttempts.Step.deliver
        for _ in 0..<8 {
            last = attempts.refused(by: authority, challenges: values, schemes: [.negotiate, .ntlm])
            switch last {
            case .offer(let offers): attempts.answered(offers[0].space)
            case .renew(let offer): attempts.answered(offer.space)
            case .deliver: break
            }
        }
        precondition(last == .deliver, "the attempts have no end")
        return count
    }

    private static func check(_ value: String, of challenge: AuthenticationChallenge) {
        let sent = AuthenticationChallenge.parse([value])
        precondition(sent.count == 1 && sent[0].scheme == challenge.scheme, "one answer")
        guard challenge.scheme == "digest" else { return }
        precondition(sent[0].parameters.filter { $0.name == "response" }.count == 1, "one response")
        precondition(sent[0].parameters.count <= 12, "parameters")
    }

    /// Stores lines as `Set-Cookie` fields of several hosts. Checks that the sent fields can be parsed to the same cookies, and that the
    /// store is bounded.
    ///
    /// - Returns: The number of stored cookies.
    @discardableResult
    public static func setCookies(_ bytes: [UInt8]) -> Int {
        var limits = CookieStore.Limits()
        limits.perDomain = 4
        limits.total = 10
        var store = CookieStore(limits: limits)
        var (now, count) = (Duration.seconds(1_700_000_000), 0)
        for (index, line) in bytes.split(separator: 0x0A).enumerated() {
            let hosts = ["a.example", "x.a.example", "192.0.2.1", "b.example"]
            let context = CookieContext(
                host: hosts[index % 4], path: index % 3 == 0 ? "/" : "/dir/page", isSecure: index % 5 != 0)
            if store.receive(line, from: context, at: now) == .stored { count += 1 }
            now += .seconds(Int(line.first ?? 0))
            precondition(store.count == store.all.count && store.count <= limits.total, "count")
            checkSent(&store, context, now)
        }
        return count
    }

    /// Reads bytes as a cookie store's file, unchanged and as records with valid checksums. Checks that each record can
    /// be written and read again, and that no cookie can inject a header field.
    ///
    /// - Returns: The number of cookies.
    @discardableResult
    public static func cookieFile(_ bytes: [UInt8]) -> Int {
        let kind = "causeway cookies 1"
        let records = bytes.split(separator: 0x0A).map { line in
            line.split(separator: 0x09, maxSplits: RecordFile.maximumFieldCount - 1, omittingEmptySubsequences: false)
                .map { Array($0) }
        }
        let file = RecordFile.encode(kind: kind, records)
        precondition(RecordFile.decode(kind: kind, file) == Array(records.prefix(RecordFile.maximumCount)), "fields")
        let found = CookieRecord.decode(bytes) + CookieRecord.decode(file)
        precondition(CookieRecord.decode(CookieRecord.encode(found)).count == found.count, "records")
        var store = CookieStore()
        for record in found {
            precondition(record.cookie.pair.allSatisfy(HTTPCharacters.isFieldValue), "characters")
            store.insert(record.cookie, at: .seconds(1_700_000_000))
        }
        precondition(store.count <= CookieStore.Limits().total, "count")
        return found.count
    }

    /// Parses bytes as a list of public suffixes, and looks up hosts in it. Computes the registrable domain of each
    /// host, and then the registrable domain of the result. The second result must not be longer than the first.
    ///
    /// - Returns: The number of rules.
    @discardableResult
    public static func publicSuffixes(_ bytes: [UInt8]) -> Int {
        let list = PublicSuffixList(parsing: bytes)
        let hosts = bytes.split(separator: 0x0A).prefix(8).map { String(decoding: $0, as: UTF8.self) }
        for host in hosts + ["www.a.example.co.uk", "192.0.2.1", ""] {
            let domain = list.registrableDomain(of: host)
            precondition(list.registrableDomain(of: domain).utf8.count <= domain.utf8.count, "not shorter")
            _ = list.isPublicSuffix(host)
        }
        return list.count
    }

    private static func checkSent(_ store: inout CookieStore, _ context: CookieContext, _ now: Duration) {
        let cookies = store.cookies(for: context, at: now)
        let lengths = cookies.map(\.path.utf8.count)
        precondition(zip(lengths, lengths.dropFirst()).allSatisfy { $0 >= $1 }, "order")
        for cookie in cookies {
            precondition(!cookie.pair.contains(0x3B) && cookie.pair.allSatisfy(HTTPCharacters.isFieldValue), "bytes")
            precondition(context.isSecure || !cookie.isSecure, "secure")
            precondition(cookie.name.isEmpty || SetCookie(cookie.pair)?.name == cookie.name, "name")
            precondition(cookie.name.isEmpty || SetCookie(cookie.pair)?.value == cookie.value, "value")
        }
    }

    /// Parses bytes as a URI reference, follows it as a redirect, and parses it as a `data:` URL.
    ///
    /// - Returns: Whether the redirect was followed.
    @discardableResult
    public static func references(_ bytes: [UInt8]) -> Bool {
        let text = String(decoding: bytes, as: UTF8.self)
        if let parsed = DataURL(text) { precondition(parsed.content.count <= bytes.count * 3, "data") }
        guard let reference = URIReference(bytes: bytes) else { return false }
        precondition(URIReference(reference.description) == reference, "the text is parsed to another reference")
        precondition(reference.description.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "characters")
        guard let target = URIReference("https://a.example/b/c?d") else { preconditionFailure("target") }
        var fields = FieldSection()
        fields.append(name: "Location".utf8, value: bytes)
        var request = RedirectableRequest(method: "GET", target: target)
        request.fields.append("Authorization", "secret")
        var chain = RedirectChain()
        guard case .follow(let next) = chain.answered(status: 302, fields: fields, to: request) else { return false }
        guard let origin = HTTPOrigin(next.target) else { preconditionFailure("origin") }
        precondition(origin.isSecure, "downgrade")
        precondition(origin == HTTPOrigin(target) || !next.fields.contains("Authorization"), "credential")
        precondition(next.target.originForm.utf8.allSatisfy(HTTPCharacters.isTarget), "target")
        return true
    }
}
