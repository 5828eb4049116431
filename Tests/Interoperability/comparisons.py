"""Members that compare a code: section 7 of Documentation/wire-format.md."""
import os

import short_code
from association import Association
from frames import AskToCompare, CompareNonce, CompareReveal, EndComparison, Frame, SameCode
from link import PATIENCE


class Comparison:
    """One comparison with the other side of an association, seen from here."""

    def __init__(self, association: Association):
        self.association = association
        self.nonce = os.urandom(32)
        self.code: str | None = None

    # As the side that asks

    def ask(self, timeout: int = 60_000) -> None:
        self.association.send(AskToCompare(timeout, short_code.commitment(self.nonce)))

    def reveal(self, patience: float = PATIENCE) -> None:
        """Waits until the other side's question is on its screen, and learns the code."""
        there = self.association.wait_for(CompareNonce, patience=patience)
        self.association.link.send(CompareReveal(self.nonce))
        self.code = self.association.code_of(self.association.node.identity.id, self.association.peer, self.nonce, there.nonce)

    # As the side that is asked

    def answer(self, asked: AskToCompare | None = None) -> None:
        """Takes the other side's question, now or as it comes, and learns the code."""
        asked = asked or self.association.wait_for(AskToCompare)
        self.association.link.send(CompareNonce(self.nonce))
        there = self.association.wait_for(CompareReveal)
        assert short_code.commitment(there.nonce) == asked.commitment, "the reveal does not fit the commitment"
        self.code = self.association.code_of(self.association.peer, self.association.node.identity.id, there.nonce, self.nonce)

    # Words

    def say(self, word: Frame) -> None:
        self.association.send(word)

    def word(self, patience: float = PATIENCE) -> SameCode | EndComparison:
        """The other side's."""
        return self.association.wait_for(SameCode, EndComparison, patience=patience)
