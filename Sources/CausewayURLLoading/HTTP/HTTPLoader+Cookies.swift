internal import CausewayHTTP
internal import CausewayWire
internal import Foundation

extension HTTPLoader {
    /// Adds the stored cookies, unless the program has set the field.
    ///
    /// - Parameter target: The target of the request, if it is the one of the program.
    func addCookies(to value: inout HTTPRequestValue, _ target: RequestTarget?) {
        guard network.settings.http.setsCookies, request.values.options[.handlesCookies],
            let storage = network.settings.stores.cookies, !storage.isKnownToBeEmpty, let url = request.values.url,
            !value.fields.contains("Cookie")
        else { return }
        let key = target?.cookieKey ?? CookieJar.AnswerKey(value.origin, value.target)
        guard let text = storage.fieldValue(for: url, key) else { return }
        guard let target else { return value.fields.append("Cookie", text) }
        value.fields = target.fields(value.fields, addingCookies: text)
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
