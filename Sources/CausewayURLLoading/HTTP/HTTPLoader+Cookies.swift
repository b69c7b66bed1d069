internal import CausewayHTTP
internal import CausewayWire
internal import Foundation

extension HTTPLoader {
    /// Where the cookies of a request come from.
    enum CookieSource: Sendable {
        /// The session's storage.
        case storage
        /// A program's subclass, which has returned these cookies.
        case given([HTTPCookie])
    }

    /// The source of the request's cookies; `nil` if it gets none.
    private var sentCookies: HTTPCookieStorage? {
        guard network.settings.http.setsCookies, request.values.options[.handlesCookies],
            let storage = network.settings.stores.cookies, !storage.isKnownToBeEmpty,
            !request.values.fields.contains("Cookie")
        else { return nil }
        return storage
    }

    /// Whether a program's subclass supplies the cookies, so that ``findCookies(_:)`` must be called.
    var hasOwnCookies: Bool {
        guard let storage = network.settings.stores.cookies, type(of: storage) != HTTPCookieStorage.self else {
            return false
        }
        return sentCookies != nil
    }

    /// Asks a program's storage subclass for the task's cookies. The closure is called once, on the thread on which the program answers.
    func findCookies(_ then: @escaping @Sendable (CookieSource) -> Void) {
        guard let storage = sentCookies, let task = attempt.task.task else { return then(.storage) }
        let question = openQuestion()
        storage.getCookiesFor(task) { [self] cookies in if takesAnswer(to: question) { then(.given(cookies ?? [])) } }
    }

    /// Adds the stored cookies, unless the program has set the field.
    ///
    /// - Parameter target: The request target, if it is still the program's.
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

    /// Stores a response's cookies, as the session's policy permits.
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
