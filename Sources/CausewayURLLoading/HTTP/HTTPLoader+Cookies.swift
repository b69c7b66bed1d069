internal import CausewayHTTP
internal import CausewaySystem
internal import CausewayWire
internal import Foundation

extension HTTPLoader {
    /// Where the cookies of a request come from.
    enum CookieSource: Sendable {
        /// The storage of the session.
        case storage
        /// A storage of the program's own class, which has answered.
        case given([HTTPCookie])
    }

    /// The storage whose cookies the request gets; `nil` if it gets none.
    private var sentCookies: HTTPCookieStorage? {
        guard network.settings.http.setsCookies, request.values.options[.handlesCookies],
            let storage = network.settings.stores.cookies, !storage.isKnownToBeEmpty,
            !request.values.fields.contains("Cookie")
        else { return nil }
        return storage
    }

    /// Whether the program's own class has the cookies, so that it is asked with ``findCookies(_:)``.
    var hasOwnCookies: Bool {
        guard let storage = network.settings.stores.cookies, type(of: storage) != HTTPCookieStorage.self else {
            return false
        }
        return sentCookies != nil
    }

    /// Asks a storage of the program's own class for the cookies of the task. The closure is called once, on the thread on which the program
    /// answers.
    func findCookies(_ then: @escaping @Sendable (CookieSource) -> Void) {
        guard let storage = sentCookies, let task = attempt.task.task else { return then(.storage) }
        let isAnswered = LockedValue(false)
        storage.getCookiesFor(task) { cookies in
            let isFirst = isAnswered.withLock { isAnswered in
                defer { isAnswered = true }
                return !isAnswered
            }
            if isFirst { then(.given(cookies ?? [])) }
        }
    }

    /// Adds the stored cookies, unless the program has set the field.
    ///
    /// - Parameter target: The target of the request, if it is the one of the program.
    func addCookies(from source: CookieSource, to value: inout HTTPRequestValue, _ target: RequestTarget?) {
        guard let storage = sentCookies, let url = request.values.url, !value.fields.contains("Cookie"),
            let text = fieldValue(source, storage, url, target?.cookieKey ?? .init(value.origin, value.target))
        else { return }
        guard let target else { return value.fields.append("Cookie", text) }
        value.fields = target.fields(value.fields, addingCookies: text)
    }

    private func fieldValue(
        _ source: CookieSource, _ storage: HTTPCookieStorage, _ url: URL, _ key: CookieJar.AnswerKey
    ) -> String? {
        switch source {
        case .storage: storage.fieldValue(for: url, key)
        case .given(let cookies): HTTPCookie.requestHeaderFields(with: cookies)["Cookie"]
        }
    }

    /// Stores the cookies of a response, as the policy of the session permits.
    func storeCookies(_ fields: FieldSection) {
        let settings = network.settings
        guard let storage = settings.stores.cookies, let url = request.url, request.values.options[.handlesCookies],
            settings.http.cookieAcceptPolicy != .never
        else { return }
        let cookies = fields.values(of: "Set-Cookie").compactMap { HTTPCookie(field: $0, for: url) }
        guard !cookies.isEmpty else { return }
        if settings.http.cookieAcceptPolicy == .always {
            storage.setCookies(cookies, for: url, mainDocumentURL: nil)
        } else if let task = attempt.task.task {
            storage.storeCookies(cookies, for: task)
        }
    }
}
