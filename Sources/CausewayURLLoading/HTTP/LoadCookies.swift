internal import CausewayHTTP
internal import CausewayWire
internal import Foundation

/// A load's cookies: those that its requests send, and those that its responses set.
struct LoadCookies {
    /// The source of a request's cookies.
    enum Source: Sendable {
        /// The session's cookie storage.
        case storage
        /// The cookies that the program's ``HTTPCookieStorage`` subclass has returned for the task.
        case given([HTTPCookie])
    }

    let attempt: LoadAttempt
    let network: HTTPNetwork

    private var request: URLRequest { attempt.request }

    /// The source of the request's cookies; `nil` if the request gets no stored cookies.
    private var sent: HTTPCookieStorage? {
        guard network.settings.http.setsCookies, request.values.options[.handlesCookies],
            let storage = network.settings.stores.cookies, !storage.isKnownToBeEmpty,
            !request.values.fields.contains("Cookie")
        else { return nil }
        return storage
    }

    /// The cookie storage and the task, if the program must be asked for cookies; otherwise `nil`. The program is asked
    /// if its cookie storage is a subclass.
    var subclass: (HTTPCookieStorage, URLSessionTask)? {
        guard let storage = network.settings.stores.cookies, type(of: storage) != HTTPCookieStorage.self, sent != nil,
            let task = attempt.task.task
        else { return nil }
        return (storage, task)
    }

    /// Asks the program's own cookie storage for the task's cookies. This storage is an object of a subclass of
    /// `HTTPCookieStorage`.
    ///
    /// Calls `then` at most once, on the thread on which the subclass answers.
    func ask(
        _ subclass: (storage: HTTPCookieStorage, task: URLSessionTask), for load: any AskingLoad,
        _ then: @escaping @Sendable (Source) -> Void
    ) {
        load.ask({ subclass.storage.getCookiesFor(subclass.task, completionHandler: $0) }) { (cookies: [HTTPCookie]?) in
            then(.given(cookies ?? []))
        }
    }

    /// Adds the stored cookies to a request. Adds nothing if the program itself has set the `Cookie` field.
    ///
    /// - Parameter target: The target of the program's request. `nil` if a resumable upload may send this request to
    ///   another target.
    func add(from source: Source, to value: inout HTTPRequestValue, _ target: RequestTarget?) {
        guard let storage = sent, let url = request.values.url, !value.fields.contains("Cookie"),
            let text = fieldValue(source, storage, url, target?.cookieKey ?? .init(value.origin, value.target))
        else { return }
        guard let target else { return value.fields.append("Cookie", text) }
        value.fields = target.fields(value.fields, addingCookies: text)
    }

    private func fieldValue(
        _ source: Source, _ storage: HTTPCookieStorage, _ url: URL, _ key: CookieJar.AnswerKey
    ) -> String? {
        switch source {
        case .storage: storage.fieldValue(for: url, key)
        case .given(let cookies): HTTPCookie.requestHeaderFields(with: cookies)["Cookie"]
        }
    }

    /// Stores the response's cookies if the session's cookie policy permits it.
    func store(_ fields: FieldSection) {
        guard fields.contains("Set-Cookie") else { return }
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
