extension FeedBuilder {
    /// Ends a text construct.
    mutating func end(_ captured: MarkupCapture, _ frame: Frame) {
        // Count all bytes of the text, including unsafe parts. Removing unsafe parts takes time too.
        guard keep(captured.bytes.count) else { return }
        let isContainer = feed.format == .atom10 && captured.type == "application/xhtml+xml"
        var text = TextConstruct.text(
            captured, isAtom: feed.format.isAtom, isContainer: isContainer, base: frame.base, budget: &budget.markup)
        guard spend(0) else { return }
        if text.value.utf8.count > captured.bytes.count { _ = keep(text.value.utf8.count - captured.bytes.count) }
        if captured.isCut { noteCut(captured) }
        text.language = frame.language
        text.base = frame.base
        if !frame.text.isEmpty { text.source = String(decoding: frame.text, as: UTF8.self) }
        store(text, key: captured.key)
    }

    private mutating func noteCut(_ captured: MarkupCapture) {
        guard feed.problems.count < 32 else { return }
        feed.problems.append(
            FeedProblem(
                line: place.line, column: place.column,
                message: "\(captured.key) is longer than \(captured.limit) bytes and was cut"))
    }

    private mutating func store(_ text: FeedText, key: String) {
        let isDirect = isDirect
        switch key {
        case "title", "dc_title", "itunes_title":
            change { if isDirect && key == "title" || $0.title == nil { $0.title = text } }
        case "media_title": change { if $0.title == nil { $0.title = text } }
        case "rights", "copyright", "dc_rights": change { if isDirect || $0.rights == nil { $0.rights = text } }
        case "info", "feedburner_browserfriendly": changeFeed { $0.information = text }
        case "subtitle", "tagline", "itunes_subtitle":
            change { if key != "itunes_subtitle" || $0.subtitle == nil { $0.subtitle = text } }
        case "content", "content_encoded", "body", "xhtml_body", "xhtml_div", "fullitem": storeContent(text)
        case "media_text": if context == .item, item?.contents.isEmpty == true { storeContent(text) }
        default: storeSummary(text, key: key)
        }
    }

    private mutating func storeContent(_ text: FeedText) {
        guard context == .item else { return }
        if (item?.contents.count ?? 8) < 8 { item?.contents.append(text) }
    }

    private mutating func storeSummary(_ text: FeedText, key: String) {
        let isFirst = key == "summary" || key == "description"
        if context == .item, isFirst, isDirect, let present = item?.core.summary, progress.summaryKey == key,
            present != text
        {
            // An item's second summary or description is the item's full content. So store it as content.
            return storeContent(text)
        }
        let isDirect = isDirect
        var isStored = false
        change {
            if $0.summary == nil || (isFirst && isDirect) {
                $0.summary = text
                isStored = true
            }
        }
        if isStored { progress.summaryKey = key }
    }
}
