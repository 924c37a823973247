-------------------------------- MODULE counted --------------------------------
\* counted, check xs: Replica = 3, Offset = 3, Epoch = 1, Crashes = 1, truncate_to = common_prefix;
\* faults: none.
\* Written by `modelcheck export --to tla`.
EXTENDS Integers, Sequences, FiniteSets, TLC

CONSTANT None  \* no value

\* One step for a guard, however many ways there are to make it true.
Holds(claim) == claim = TRUE

Min(a, b) == IF a <= b THEN a ELSE b

\* An option as a set.
Present(option) == IF option = None THEN {} ELSE {option}

\* Sequences count from 0 in the model and from 1 here.
Take(s, n) == SubSeq(s, 1, IF n < Len(s) THEN n ELSE Len(s))

CommonPrefix(s, t) ==
  LET most == IF Len(s) < Len(t) THEN Len(s) ELSE Len(t)
  IN  CHOOSE n \in 0..most :
        /\ \A i \in 1..n : s[i] = t[i]
        /\ n = most \/ s[n + 1] # t[n + 1]

CONSTANTS replica1, replica2, replica3
Replica == {replica1, replica2, replica3}
Max_Epoch == 1  \* a step beyond it is not taken
Epoch == 0..Max_Epoch
Max_Offset == 3  \* a step beyond it is not taken
Offset == 0..Max_Offset
Max_Crashes == 1  \* a step beyond it is not taken
Crashes == 0..Max_Crashes
truncate_to == "common_prefix"

VARIABLES
  leader,  \* Replica?
  epoch,  \* Epoch
  isr,  \* set[Replica]
  log,  \* map[Replica, seq[Epoch; Offset]]
  up,  \* map[Replica, bool]
  ep,  \* map[Replica, Epoch]
  lead,  \* map[Replica, Replica?]
  hw,  \* map[Replica, Offset]
  own_isr,  \* map[Replica, set[Replica]]
  crashes  \* Crashes

vars == <<leader, epoch, isr, log, up, ep, lead, hw, own_isr, crashes>>

Init ==
  /\ leader = None
  /\ epoch = 0
  /\ isr = Replica
  /\ log = [r \in Replica |-> <<>>]
  /\ up = [r \in Replica |-> TRUE]
  /\ ep = [r \in Replica |-> 0]
  /\ lead = [r \in Replica |-> None]
  /\ hw = [r \in Replica |-> 0]
  /\ own_isr = [r \in Replica |-> {}]
  /\ crashes = 0

\* the controller makes {r} the leader of epoch {epoch + 1}
elect(r) ==
  /\ up[r]
  /\ leader # r
  /\ leader' = r
  /\ epoch < Max_Epoch
  /\ epoch' = epoch + 1
  /\ UNCHANGED <<isr, log, up, ep, lead, hw, own_isr, crashes>>

\* the controller notices that {r} is down
fence_leader(r) ==
  /\ ~up[r]
  /\ leader' = None
  /\ isr' = IF isr # {r} THEN isr \ {r} ELSE isr
  /\ UNCHANGED <<epoch, log, up, ep, lead, hw, own_isr, crashes>>

\* {r} learns that it leads epoch {epoch}
become_leader(r) ==
  /\ up[r]
  /\ ep[r] < epoch
  /\ ep' = [ep EXCEPT ![r] = epoch]
  /\ lead' = [lead EXCEPT ![r] = r]
  /\ own_isr' = [own_isr EXCEPT ![r] = isr]
  /\ UNCHANGED <<leader, epoch, isr, log, up, hw, crashes>>

\* {r} takes a record into its log
write(r) ==
  /\ up[r]
  /\ lead[r] = r
  /\ Len(log[r]) < Max_Offset
  /\ log' = [log EXCEPT ![r] = Append(@, ep[r])]
  /\ UNCHANGED <<leader, epoch, isr, up, ep, lead, hw, own_isr, crashes>>

\* {r} commits the record at offset {r.hw}
inc_hw(r) ==
  /\ up[r]
  /\ lead[r] = r
  /\ hw[r] < Len(log[r])
  /\ \A f \in own_isr[r] : lead[f] = r /\ ep[f] = ep[r] /\ hw[r] < Len(log[f])
  /\ hw[r] < Max_Offset
  /\ hw' = [hw EXCEPT ![r] = @ + 1]
  /\ UNCHANGED <<leader, epoch, isr, log, up, ep, lead, own_isr, crashes>>

\* {l} drops {f} from the ISR
shrink_isr(l, f) ==
  /\ up[l]
  /\ lead[l] = l
  /\ leader = l
  /\ ep[l] = epoch
  /\ Holds(~(lead[f] = l /\ ep[f] = ep[l]) \/ Len(log[f]) < Len(log[l]))
  /\ isr' = isr \ {f}
  /\ own_isr' = [own_isr EXCEPT ![l] = isr']
  /\ UNCHANGED <<leader, epoch, log, up, ep, lead, hw, crashes>>

\* {l} takes {f} back into the ISR
expand_isr(l, f) ==
  /\ up[l]
  /\ up[f]
  /\ lead[l] = l
  /\ leader = l
  /\ ep[l] = epoch
  /\ lead[f] = l
  /\ ep[f] = ep[l]
  /\ hw[l] <= Len(log[f])
  /\ Holds(hw[l] = Len(log[l]) \/ log[l][hw[l] + 1] = ep[l])
  /\ isr' = isr \cup {f}
  /\ own_isr' = [own_isr EXCEPT ![l] = isr']
  /\ UNCHANGED <<leader, epoch, log, up, ep, lead, hw, crashes>>

\* {r} follows {b} in epoch {epoch}
become_follower(r, b) ==
  /\ up[r]
  /\ up[b]
  /\ r # b
  /\ ep[r] < epoch
  /\ lead[b] = b
  /\ ep[b] = epoch
  /\ LET kept == IF truncate_to = "high_watermark" THEN hw[r] ELSE CommonPrefix(log[r], log[b])
     IN  /\ log' = [log EXCEPT ![r] = Take(@, kept)]
         /\ hw' = [hw EXCEPT ![r] = Min(@, kept)]
         /\ ep' = [ep EXCEPT ![r] = epoch]
         /\ lead' = [lead EXCEPT ![r] = b]
         /\ own_isr' = [own_isr EXCEPT ![r] = {}]
         /\ UNCHANGED <<leader, epoch, isr, up, crashes>>

\* {f} fetches from {l}
fetch(l, f) ==
  /\ up[l]
  /\ up[f]
  /\ lead[l] = l
  /\ lead[f] = l
  /\ ep[f] = ep[l]
  /\ Holds(Len(log[f]) < Len(log[l]) \/ (hw[f] < hw[l] /\ hw[f] < Len(log[f])))
  /\ Len(log[f]) < Len(log[l]) => Len(log[f]) < Max_Offset
  /\ log' = IF Len(log[f]) < Len(log[l])
            THEN [log EXCEPT ![f] = Append(@, log[l][Len(@) + 1])]
            ELSE log
  /\ hw' = [hw EXCEPT ![f] = Min(hw[l], Len(log'[f]))]
  /\ UNCHANGED <<leader, epoch, isr, up, ep, lead, own_isr, crashes>>

\* {r} crashes
crash(r) ==
  /\ up[r]
  /\ crashes < Max_Crashes
  /\ crashes' = crashes + 1
  /\ ep' = [ep EXCEPT ![r] = 0]
  /\ lead' = [lead EXCEPT ![r] = None]
  /\ hw' = [hw EXCEPT ![r] = 0]
  /\ own_isr' = [own_isr EXCEPT ![r] = {}]
  /\ up' = [up EXCEPT ![r] = FALSE]
  /\ UNCHANGED <<leader, epoch, isr, log>>

\* repair: {r} comes back
restart(r) ==
  /\ ~up[r]
  /\ up' = [up EXCEPT ![r] = TRUE]
  /\ leader' = IF leader = r THEN None ELSE leader
  /\ UNCHANGED <<epoch, isr, log, ep, lead, hw, own_isr, crashes>>

Next ==
  \/ \E r \in isr : elect(r)
  \/ \E r \in Present(leader) : fence_leader(r)
  \/ \E r \in Present(leader) : become_leader(r)
  \/ \E r \in Replica : write(r)
  \/ \E r \in Replica : inc_hw(r)
  \/ \E l \in Replica : \E f \in isr \ {l} : shrink_isr(l, f)
  \/ \E l \in Replica : \E f \in (Replica \ isr) \ {l} : expand_isr(l, f)
  \/ \E r \in Replica : \E b \in Present(leader) : become_follower(r, b)
  \/ \E l \in Replica : \E f \in Replica \ {l} : fetch(l, f)
  \/ \E r \in Replica : crash(r)
  \/ \E r \in Replica : restart(r)

Spec == Init /\ [][Next]_vars

\* invariant: whoever is in the ISR has all that a leader counts as committed
strong_isr ==
  \A r \in Replica :
    \A m \in isr : lead[r] = r => hw[r] <= Len(log[m]) /\ Take(log[m], hw[r]) = Take(log[r], hw[r])

\* invariant: two replicas agree on what both count as committed
committed_agree ==
  \A a \in Replica :
    \A b \in Replica : LET n == Min(hw[a], hw[b]) IN Take(log[a], n) = Take(log[b], n)
================================================================================
