internal import CausewayHTTPProtocols
internal import CausewaySystem
public import Foundation

/// A cookie storage that follows RFC 6265bis.
///
/// The shared storages for a program and for an app group keep their cookies in files below `$XDG_DATA_HOME/causeway`, which only the user
/// can read. Session cookies are not written. Changes are written shortly afterwards, and when the process exits; several processes can use
/// one file. A storage that a program creates, and all storages in test runners, are in memory only.
///
/// Counterpart: macOS 10.2, iOS 2.
// SAFETY: a lock guards the cookies. Subclasses outside this module must make their own properties thread-safe.
@preconcurrency open class HTTPCookieStorage: NSObject, @unchecked Sendable {
    private static let sharedStorage = HTTPCookieStorage(directory: StoreDirectory.application)
    private static let groups = LockedValue<[String: HTTPCookieStorage]>([:])
    private let jar: LockedValue<CookieJar>
    private let file: PrivateFile?
    private let suffixes: PublicSuffixes
    /// The object that writes the file. `nil` if there is no file. Set this property last, because the writer's closure
    /// refers to the cookie storage.
    private let writer = LockedValue<StoreWriter?>(nil)
    private let hasPrepared = LockedValue(false)

    /// Creates a private storage in memory.
    public override init() {
        jar = LockedValue(CookieJar())
        file = nil
        suffixes = .shared
        super.init()
    }

    /// Creates a storage with a file, or in memory if `directory` is `nil`.
    ///
    /// - Parameters:
    ///   - directory: The file's directory.
    ///   - suffixes: The public suffixes.
    ///   - savesAtExit: Whether changes are also written when the process exits.
    init(directory: String?, suffixes: PublicSuffixes = .shared, savesAtExit: Bool = true) {
        file = directory.map { PrivateFile(directory: $0, name: "cookies") }
        jar = LockedValue(CookieJar(suffixes, hasFile: directory != nil))
        self.suffixes = suffixes
        super.init()
        guard file != nil else { return }
        let made = StoreWriter(savesAtExit: savesAtExit) { [weak self] in self?.save() }
        writer.withLock { $0 = made }
    }

    /// The shared storage of the process.
    open class var shared: HTTPCookieStorage { sharedStorage }

    /// Returns the shared storage of an app group.
    ///
    /// Counterpart: macOS 10.11, iOS 9.
    open class func sharedCookieStorage(forGroupContainerIdentifier identifier: String) -> HTTPCookieStorage {
        groups.withLock { groups in
            if let known = groups[identifier] { return known }
            let made = HTTPCookieStorage(directory: StoreDirectory.group(identifier))
            groups[identifier] = made
            return made
        }
    }

    /// Whether it is certain that ``cookies(for:)`` returns no cookies. The caller can then skip that call. Always
    /// `false` for subclasses, because they can override the method.
    var isKnownToBeEmpty: Bool {
        type(of: self) == HTTPCookieStorage.self && jar.withLock { $0.isEmpty && $0.isLoaded }
    }

    /// All cookies that have not expired.
    open var cookies: [HTTPCookie]? { withJar { $0.all(at: Self.now) } }

    /// Stores a cookie, replacing a cookie with the same name, domain and path. An expired cookie only removes the
    /// stored cookie. A cookie without a name is ignored.
    open func setCookie(_ cookie: HTTPCookie) {
        withJar { $0.insert(cookie, at: Self.now) }
        postChange()
    }

    /// Removes a cookie.
    open func deleteCookie(_ cookie: HTTPCookie) {
        withJar { $0.remove(cookie) }
        postChange()
    }

    /// Removes cookies stored after a date.
    ///
    /// Counterpart: macOS 10.10, iOS 8.
    open func removeCookies(since date: Date) {
        adoptFile()
        withJar { $0.removeAll(since: .seconds(min(max(date.timeIntervalSince1970, 0), 1e11))) }
        postChange()
    }

    /// Returns the cookies to send to a URL: longest path first, then oldest first.
    open func cookies(for url: URL) -> [HTTPCookie]? {
        guard let context = SetCookieFields.context(of: url) else { return [] }
        return withJar { $0.cookies(for: context, at: Self.now) }
    }

    /// Returns the `Cookie` value for a request to a URL; `nil` if there are no cookies for it.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - key: The request's values that select the cookies.
    func fieldValue(for url: URL, _ key: CookieJar.AnswerKey) -> String? {
        // A subclass can override ``cookies(for:)``. In that case, call its method for every request and do not cache
        // the result.
        guard type(of: self) == HTTPCookieStorage.self else {
            return HTTPCookie.requestHeaderFields(with: cookies(for: url) ?? [])["Cookie"]
        }
        let now = Self.now
        return withJar { jar in
            if let known = jar.answer(for: key, at: now) { return known }
            return SetCookieFields.context(of: url).flatMap { jar.makeAnswer(for: key, $0, at: now) }
        }
    }

    /// Stores the cookies from a response if the accept policy and RFC 6265bis allow them.
    ///
    /// - Parameters:
    ///   - cookies: The cookies.
    ///   - url: The URL.
    ///   - mainDocumentURL: The main document's URL, for the accept policy; `nil` for a first-party request.
    open func setCookies(_ cookies: [HTTPCookie], for url: URL?, mainDocumentURL: URL?) {
        guard let url, let context = SetCookieFields.context(of: url), isAccepted(context.host, mainDocumentURL) else {
            return
        }
        prepareSuffixes()
        let isChanged = withJar { jar in
            cookies.reduce(false) { jar.receive($1, from: context, at: Self.now) || $0 }
        }
        if isChanged { postChange() }
    }

    /// Which cookies are accepted. The default is ``HTTPCookie/AcceptPolicy/onlyFromMainDocumentDomain``.
    open var cookieAcceptPolicy: HTTPCookie.AcceptPolicy {
        get { jar.withLock { $0.policy } }
        set {
            jar.withLock { $0.policy = newValue }
            NotificationCenter.default.post(name: .NSHTTPCookieManagerAcceptPolicyChanged, object: self)
        }
    }

    /// Returns all cookies, sorted with the given sort descriptors.
    open func sortedCookies(using sortOrder: [NSSortDescriptor]) -> [HTTPCookie] {
        (cookies ?? []).sorted { one, other in
            for descriptor in sortOrder {
                switch descriptor.compare(one, to: other) {
                case .orderedAscending: return true
                case .orderedDescending: return false
                case .orderedSame: continue
                }
            }
            return false
        }
    }

    /// Stores the cookies from a task's response.
    ///
    /// Counterpart: macOS 10.10, iOS 8.
    open func storeCookies(_ cookies: [HTTPCookie], for task: URLSessionTask) {
        setCookies(cookies, for: task.currentRequest?.url, mainDocumentURL: task.currentRequest?.mainDocumentURL)
    }

    /// Passes the cookies for a task's request to a completion handler.
    ///
    /// Counterpart: macOS 10.10, iOS 8.
    open func getCookiesFor(
        _ task: URLSessionTask, completionHandler: @escaping @Sendable ([HTTPCookie]?) -> Void
    ) {
        completionHandler(task.currentRequest?.url.flatMap { cookies(for: $0) })
    }

    /// Returns the cookies for a task's request.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    open func cookies(for task: URLSessionTask) async -> [HTTPCookie]? {
        await withCheckedContinuation { continuation in
            getCookiesFor(task) { continuation.resume(returning: $0) }
        }
    }

    /// A textual description with the number of cookies.
    open override var description: String { "<NSHTTPCookieStorage cookies count:\(cookies?.count ?? 0)>" }

    private static var now: Duration { .seconds(Date().timeIntervalSince1970) }

    /// Returns whether the policy accepts cookies from a host. With `onlyFromMainDocumentDomain`, the host must have
    /// the same registrable domain as the main document.
    private func isAccepted(_ host: String, _ mainDocumentURL: URL?) -> Bool {
        switch cookieAcceptPolicy {
        case .always: return true
        case .never: return false
        case .onlyFromMainDocumentDomain:
            guard let main = mainDocumentURL?.host else { return true }
            return suffixes.list.isSameSite(main, host)
        }
    }

    /// Starts to load the system's public suffixes when the first response with cookies arrives. After the load,
    /// removes stored cookies for domains that are public suffixes.
    private func prepareSuffixes() {
        let isFirst = hasPrepared.withLock { hasPrepared in
            defer { hasPrepared = true }
            return !hasPrepared
        }
        guard isFirst else { return }
        suffixes.prepare { [weak self] in
            guard let self, jar.withLock({ $0.removePublicSuffixes(suffixes.list) }) else { return }
            postChange()
        }
    }

    private func postChange() {
        writer.withLock { $0 }?.noteChange()
        NotificationCenter.default.post(name: .NSHTTPCookieManagerCookiesChanged, object: self)
    }

    // MARK: The file

    /// Calls `body` with the cookies, after reading those in the file. If the file cannot be read now, the next call
    /// tries again.
    private func withJar<Result: Sendable>(_ body: (inout CookieJar) -> Result) -> Result {
        if let file, !jar.withLock({ $0.isLoaded }) {
            do throws(SystemError) {
                let records = CookieRecord.decode(try file.contents() ?? [])
                jar.withLock { $0.load(records, at: Self.now) }
            } catch {}
        }
        return jar.withLock { body(&$0) }
    }

    /// Reads the cookies that other processes have written to the file into this process's store. A removal of cookies
    /// then also removes these cookies.
    private func adoptFile() {
        guard let records = file?.read().map({ CookieRecord.decode($0) }) else { return }
        withJar { $0.adopt(records, at: Self.now) }
    }

    /// Writes this process's changes to the file, and adopts the changes of other processes.
    private func save() {
        let changes = withJar { $0.takeChanges() }
        guard let file, !changes.isEmpty else { return }
        var merged: [CookieRecord] = []
        let isWritten = file.update { old in
            merged = CookieJar.merge(CookieRecord.decode(old), with: changes, at: Self.now)
            return CookieRecord.encode(merged)
        }
        let written = merged
        jar.withLock { jar in
            if isWritten { jar.adopt(written, at: Self.now) } else { jar.restore(changes) }
        }
    }

    /// Writes pending changes.
    func flush() { writer.withLock { $0 }?.flush() }
}
